#include "converter/testing/fragmented_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Error;
using test::Fragmented;
using test::Get;
using test::TraceBuilder;
using ::testing::HasSubstr;

TEST(AllocationLifeTest, ListsWhatLayAtThePlaceBeforeAndAfter) {
  TraceBuilder trace;
  trace.Alloc(0x1000, {"first", "", 1, 256, 0}).Free(0x1000);
  trace.Alloc(0x1000, {"second", "", 1, 512, 0}).Free(0x1000);
  trace.Alloc(0x1100, {"third", "", 1, 256, 0});
  const auto run = trace.Open();
  Query query;
  query.set_allocation_id(2);
  const auto life = Get<AllocationLife>(*run, ALLOCATION_LIFE, query);
  EXPECT_EQ(life.allocation().op_name(), "second");
  EXPECT_EQ(life.allocation().lifetime_ns(), 1000u);
  ASSERT_EQ(life.before_size(), 1);
  EXPECT_EQ(life.before(0).op_name(), "first");
  ASSERT_EQ(life.after_size(), 1);
  EXPECT_EQ(life.after(0).op_name(), "third");
}

TEST(AllocationLifeTest, ANumberThatIsNoAllocationIsAnError) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_allocation_id(15);
  EXPECT_THAT(Error(*run, ALLOCATION_LIFE, query),
              HasSubstr("no allocation 15"));
}

}  // namespace
}  // namespace oom_forensics
