#include "converter/reader/step_collector.h"

#include <gtest/gtest.h>

namespace oom_forensics {
namespace {

constexpr int64_t kTraceEndPs = 1000;

TEST(StepCollectorTest, AStepWithoutAnEndLastsUntilTheNextOrTheTracesEnd) {
  StepCollector collector;
  collector.AddBegin(7, 100);
  collector.AddBegin(8, 200);
  const auto steps = collector.Finish(kTraceEndPs);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].number, 7);
  EXPECT_EQ(steps[0].end_ps, 200);
  EXPECT_EQ(steps[1].end_ps, kTraceEndPs);
}

TEST(StepCollectorTest, ANegativeNumberEndsAStepAndBeginsNone) {
  StepCollector collector;
  collector.AddBegin(7, 100);
  collector.AddBegin(-1, 150);
  collector.AddBegin(8, 200);
  const auto steps = collector.Finish(kTraceEndPs);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].end_ps, 150);
  EXPECT_EQ(steps[1].begin_ps, 200);
}

TEST(StepCollectorTest, StepsWithBothEndsAreBetterThanBegins) {
  StepCollector collector;
  collector.AddBegin(7, 100);
  collector.Add(0, 101, 190);
  collector.AddBegin(8, 200);
  collector.Add(1, 201, 290);
  const auto steps = collector.Finish(kTraceEndPs);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].number, 0);
  EXPECT_EQ(steps[0].end_ps, 190);
  EXPECT_EQ(steps[1].number, 1);
}

TEST(StepCollectorTest, StatementsOfOneStepThatOverlapAreOne) {
  StepCollector collector;
  collector.Add(3, 100, 200);
  collector.Add(3, 110, 250);
  const auto steps = collector.Finish(kTraceEndPs);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].end_ps, 250);
}

}  // namespace
}  // namespace oom_forensics
