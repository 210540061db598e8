#include "collector/xla/buffer_requests.h"

#include <protozero/pbf_writer.hpp>
#include <string>

#include "gtest/gtest.h"

namespace oom_forensics::collector {
namespace {

// Fields of xla.BufferAllocationProto that are set to true.
constexpr uint32_t kThreadLocal = 3;
constexpr uint32_t kParameter = 5;
constexpr uint32_t kLiveOut = 7;
constexpr uint32_t kConstant = 12;

void AddAllocation(int64_t index, int64_t size,
                   std::initializer_list<uint32_t> flags, std::string* proto) {
  protozero::pbf_writer assignment(*proto);
  protozero::pbf_writer allocation(assignment, 3);
  allocation.add_int64(1, index);
  allocation.add_int64(2, size);
  for (const uint32_t flag : flags) allocation.add_bool(flag, true);
}

TEST(BufferRequests, AreWhatComesFromNowhereElse) {
  std::string proto;
  AddAllocation(0, 100, {kParameter}, &proto);
  AddAllocation(1, 200, {kLiveOut}, &proto);
  AddAllocation(2, 300, {kConstant}, &proto);
  AddAllocation(3, 400, {kThreadLocal}, &proto);
  AddAllocation(4, 500, {kParameter, kLiveOut}, &proto);
  AddAllocation(5, 0, {kLiveOut}, &proto);
  AddAllocation(6, 600, {}, &proto);
  const BufferPlan plan = PlanOf(proto);
  ASSERT_EQ(plan.requests.size(), 2u);
  EXPECT_EQ(plan.requests[0].index, 1);
  EXPECT_EQ(plan.requests[0].bytes, 200u);
  EXPECT_STREQ(plan.requests[0].kind, "output");
  EXPECT_EQ(plan.requests[1].index, 6);
  EXPECT_STREQ(plan.requests[1].kind, "temp");
  EXPECT_EQ(plan.constant_bytes, 300u);
}

TEST(BufferRequests, OfWhatIsNotAProtoAreNone) {
  EXPECT_TRUE(PlanOf("\x1a\x7f").requests.empty());
}

}  // namespace
}  // namespace oom_forensics::collector
