#include "converter/forensics/leak_finder.h"

#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Ask;
using test::TraceBuilder;

constexpr uint64_t kTensorBytes = 65536;

Ask Tensor(const std::string& op, uint64_t bytes = kTensorBytes) {
  return {op, "[128,128]", 1, bytes};
}

std::vector<FoundLeak> LeaksAtEnd(const Run& run) {
  const AllocatorReplay& replay = *run.Load(0)->allocators()[0];
  return FindLeaks(replay, replay.end_position()).leaks;
}

TEST(LeakFinderTest, ASiteThatKeepsOneTensorOfEachStepLeaks) {
  TraceBuilder trace;
  for (int step = 0; step < 12; ++step) {
    trace.Step(step);
    trace.Alloc(0x100000, Tensor("model/dense/MatMul"));
    trace.Alloc(0x1000000 + 0x20000 * step, Tensor("model/dense/Relu"));
    trace.Free(0x100000);
  }
  trace.EndStep();
  const auto run = trace.Open();
  const auto leaks = LeaksAtEnd(*run);
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].kind, FoundLeak::Kind::kGrowth);
  EXPECT_EQ(leaks[0].rows.size(), 12u);
  EXPECT_EQ(leaks[0].live_bytes, 12 * kTensorBytes);
  EXPECT_DOUBLE_EQ(leaks[0].trend.slope, kTensorBytes);
  EXPECT_DOUBLE_EQ(leaks[0].trend.slope_low, kTensorBytes);
  EXPECT_EQ(leaks[0].trend.since, 0u);
  ASSERT_EQ(leaks[0].bytes_by_step.size(), 12u);
  EXPECT_EQ(leaks[0].bytes_by_step.back(), 12 * kTensorBytes);
}

TEST(LeakFinderTest, VariablesAndCachesThatAreMadeOnceDoNotLeak) {
  TraceBuilder trace;
  for (int i = 0; i < 6; ++i) {
    trace.Alloc(0x1000000 + 0x20000 * i, Tensor("AddV2"));
  }
  for (int step = 0; step < 12; ++step) {
    trace.Step(step);
    // A cache that is filled in the first three steps.
    if (step < 3) trace.Alloc(0x2000000 + 0x20000 * step, Tensor("cache/Fill"));
    trace.Alloc(0x100000, Tensor("model/dense/MatMul"));
    trace.Free(0x100000);
  }
  trace.EndStep();
  const auto run = trace.Open();
  EXPECT_TRUE(LeaksAtEnd(*run).empty());
}

TEST(LeakFinderTest, AnAllocationThatOutlivesItsSiblingsIsASurvivor) {
  TraceBuilder trace;
  for (int step = 0; step < 20; ++step) {
    trace.Step(step);
    trace.Alloc(0x1000000 + 0x20000 * step, Tensor("model/dense/Relu"));
    if (step != 4) trace.Free(0x1000000 + 0x20000 * step);
  }
  trace.EndStep();
  const auto run = trace.Open();
  const auto leaks = LeaksAtEnd(*run);
  ASSERT_EQ(leaks.size(), 1u);
  EXPECT_EQ(leaks[0].kind, FoundLeak::Kind::kSurvivor);
  ASSERT_EQ(leaks[0].rows.size(), 1u);
}

TEST(LeakFinderTest, WithoutStepsCallsOfGraphFunctionsAreSteps) {
  TraceBuilder trace;
  for (int call = 0; call < 10; ++call) {
    trace.StepId(1000 + call);
    trace.Alloc(0x1000000 + 0x20000 * call, Tensor("model/dense/Relu"));
  }
  const auto run = trace.Open();
  const AllocatorReplay& replay = *run->Load(0)->allocators()[0];
  const LeakSearchResult found = FindLeaks(replay, replay.end_position());
  EXPECT_EQ(found.steps.source(), StepIndex::Source::kCalls);
  EXPECT_EQ(found.steps.spans().size(), 9u);  // The last may not have ended.
  EXPECT_EQ(found.leaks.size(), 1u);
}

TEST(LeakFinderTest, ATraceWithoutStepsHasNoLeaks) {
  TraceBuilder trace;
  for (int i = 0; i < 10; ++i) {
    trace.Alloc(0x1000000 + 0x20000 * i, Tensor("Relu"));
  }
  const auto run = trace.Open();
  EXPECT_TRUE(LeaksAtEnd(*run).empty());
}

}  // namespace
}  // namespace oom_forensics
