#include "converter/forensics/op_period.h"

#include <memory>
#include <string>
#include <vector>

#include "converter/forensics/step_index.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Ask;
using test::TraceBuilder;

constexpr uint64_t kBase = 0x10000000;

Ask Op(const std::string& name) { return {name, "[4]", 1, 256}; }

// Allocates and frees.
void Touch(TraceBuilder& trace, const std::string& op) {
  trace.Alloc(kBase, Op(op)).Free(kBase);
}

std::vector<Position> Periods(TraceBuilder& trace) {
  const std::unique_ptr<Run> run = trace.Open();
  const AllocatorReplay& replay = *run->Load(0)->allocators()[0];
  return FindPeriods(replay, replay.trace().row_count());
}

TEST(OpPeriodTest, ALoopIsDividedIntoItsRounds) {
  TraceBuilder trace;
  trace.Region(kBase, 4096);
  for (int round = 0; round < 6; ++round) {
    for (const char* op : {"normal", "MatMul", "Relu", "MatMulGrad", "Sub"}) {
      Touch(trace, op);
    }
  }
  EXPECT_EQ(Periods(trace).size(), 6u);
}

TEST(OpPeriodTest, EqualLayersWithinARoundAreNoRounds) {
  TraceBuilder trace;
  trace.Region(kBase, 4096);
  for (int round = 0; round < 6; ++round) {
    Touch(trace, "normal");
    for (int layer = 0; layer < 4; ++layer) {
      for (const char* op : {"MatMul", "BiasAdd", "Relu", "Add"}) {
        Touch(trace, op);
      }
    }
  }
  EXPECT_EQ(Periods(trace).size(), 6u);
}

TEST(OpPeriodTest, RoundsThatTheTapeStillKeepsAreLayersOfOneStep) {
  constexpr int kRounds = 6;
  const std::vector<std::string> ops = {"Conv2D", "Mul", "Relu", "Add", "Sub"};
  TraceBuilder trace;
  trace.Region(kBase, 65536);
  for (int i = 0; i < kRounds * 5; ++i) {
    trace.Alloc(kBase + 256 * static_cast<uint64_t>(i), Op(ops[i % 5]));
  }
  const auto opened = trace.Open();
  const AllocatorReplay& replay = *opened->Load(0)->allocators()[0];
  const Position end = replay.trace().row_count();
  // The last round has not ended: what it computed is rightly on the tape.
  EXPECT_EQ(
      StepIndex(replay, end, {}, {end - 3, end - 2, end - 1}).spans().size(),
      kRounds - 1u);
  EXPECT_THAT(StepIndex(replay, end, {}, {end - 8, end - 7, end - 1}).spans(),
              testing::IsEmpty());
}

TEST(OpPeriodTest, ALoopThatIsOverSaysNothing) {
  TraceBuilder trace;
  trace.Region(kBase, 65536);
  for (int round = 0; round < 6; ++round) {
    for (const char* op : {"a", "b", "c", "d", "e"}) Touch(trace, op);
  }
  for (int i = 0; i < 20; ++i) Touch(trace, "op" + std::to_string(i));
  EXPECT_TRUE(Periods(trace).empty());
}

}  // namespace
}  // namespace oom_forensics
