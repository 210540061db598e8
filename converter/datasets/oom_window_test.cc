#include "converter/testing/fragmented_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Fragmented;
using test::Get;
using test::kPool;
using test::kUnit;
using test::Place;
using test::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OomWindowTest, EnoughInPiecesIsFragmentation) {
  const auto run = Fragmented().Open();
  const auto window = Get<OomWindow>(*run, OOM_WINDOW);
  ASSERT_EQ(window.ooms_size(), 1);
  const Oom& oom = window.ooms(0);
  EXPECT_EQ(oom.request().op_name(), "model/c/Conv2D");
  EXPECT_EQ(oom.request().requested_bytes(), 1000u);
  EXPECT_EQ(oom.request().rounded_bytes(), 1024u);
  EXPECT_THAT(oom.request().shape(), ElementsAre(16, 16));
  EXPECT_EQ(oom.request().step(), 11);
  EXPECT_EQ(oom.in_use_bytes(), 9 * kUnit);
  EXPECT_EQ(oom.free_bytes(), 7 * kUnit);
  EXPECT_EQ(oom.largest_free_bytes(), kUnit);
  EXPECT_EQ(oom.limit_bytes(), 16 * kUnit);
  EXPECT_TRUE(oom.fits_if_compacted());
  EXPECT_EQ(oom.verdict().kind(), "FRAGMENTATION");
  EXPECT_EQ(oom.verdict().short_by_bytes(), 768u);
  EXPECT_EQ(oom.recent_size(), 22);
  EXPECT_EQ(oom.recent(21).kind(), EVENT_FREE);
  EXPECT_EQ(oom.holders(0).count(), 8u);
  EXPECT_FALSE(oom.dump_check().has_dump());
}

TEST(OomWindowTest, TooLittleAltogetherIsCapacity) {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, 4 * kUnit)
      .Alloc(Place(0), {"a", "", 1, 3 * kUnit, 0})
      .Fail({"b", "", 1, 2 * kUnit, 0}, {true, 4 * kUnit, ""});
  const auto run = trace.Open();
  const auto window = Get<OomWindow>(*run, OOM_WINDOW);
  EXPECT_EQ(window.ooms(0).verdict().kind(), "CAPACITY");
  EXPECT_FALSE(window.ooms(0).fits_if_compacted());
}

TEST(OomWindowTest, AProbeIsNoOom) {
  TraceBuilder trace;
  trace.Fail({}, {false, 100, ""});
  const auto run = trace.Open();
  EXPECT_THAT(Get<OomWindow>(*run, OOM_WINDOW).ooms(), IsEmpty());
}

TEST(OomWindowTest, OomsOfAllAllocatorsAreNumberedByTime) {
  TraceBuilder one("one#0");
  one.Wait(50'000).Fail({"late", "", 1, 1, 0}, {});
  TraceBuilder two("two#0");
  two.Fail({"early", "", 1, 1, 0}, {});
  const auto run = one.Open({&two});
  const auto window = Get<OomWindow>(*run, OOM_WINDOW);
  ASSERT_EQ(window.ooms_size(), 2);
  EXPECT_EQ(window.ooms(0).request().op_name(), "early");
  EXPECT_EQ(window.ooms(1).request().op_name(), "late");
  Query second;
  second.set_oom(1);
  EXPECT_EQ(Get<OomWindow>(*run, OOM_WINDOW, second).ooms(0).index(), 1);
}

}  // namespace
}  // namespace oom_forensics
