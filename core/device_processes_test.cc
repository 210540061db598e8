#include "core/device_processes.h"

#include <gtest/gtest.h>

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(DeviceProcessesTest, ATraceKeepsTheLargestOnes) {
  std::vector<DeviceProcess> many(12);
  for (uint32_t i = 0; i < many.size(); ++i) many[i] = {i, i * kMiB, ""};
  many[3].bytes = 100 * kMiB;
  many[3].name = "a name";
  const auto kept = ProcessesFromLines(ToLines(many));
  ASSERT_EQ(kept.size(), 8u);
  EXPECT_EQ(kept[0].process_id, 3u);
  EXPECT_EQ(kept[0].bytes, 100 * kMiB);
  EXPECT_EQ(kept[0].name, "a name");
  EXPECT_EQ(kept[1].process_id, 11u);
}

TEST(DeviceProcessesTest, LinesOfAnotherFormAreLeftOut) {
  const auto kept = ProcessesFromLines(
      "nonsense\n1\n-1 5 x\n1 99999999999999999999 x\n\n7 1048576 \n8 5");
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].process_id, 7u);
  EXPECT_EQ(kept[0].name, "");
}

TEST(DeviceProcessesTest, AProcessThatCannotBeSeenHasItsNumber) {
  EXPECT_EQ(DescribeProcesses({{4711, 2500 * kMiB, "python"}, {12, kMiB, ""}}),
            "python (process 4711) 2.44 GiB, process 12 1.00 MiB");
}

}  // namespace
}  // namespace oom_forensics
