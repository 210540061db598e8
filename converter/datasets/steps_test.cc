#include "converter/testing/fragmented_run.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Fragmented;
using test::Get;
using test::kUnit;

TEST(StepsTest, SaysWhatAStepTookAndLeft) {
  const auto run = Fragmented().Open();
  const auto steps = Get<Steps>(*run, STEPS);
  ASSERT_EQ(steps.steps_size(), 2);
  EXPECT_EQ(steps.steps(0).alloc_count(), 15u);
  EXPECT_EQ(steps.steps(0).survivor_bytes(), 15 * kUnit);
  EXPECT_EQ(steps.steps(1).free_count(), 7u);
  EXPECT_EQ(steps.steps(1).peak().in_use_bytes(), 16 * kUnit);
}

}  // namespace
}  // namespace oom_forensics
