#include "converter/forensics/remedies/remedies.h"

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/testing/judged_oom.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::Ask;
using test::Judge;
using test::Judged;
using test::Oom;
using test::Tensor;
using test::TraceBuilder;
using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBase = 0x10000000;

TEST(RemediesTest, Float64IsHalvedWhereItHoldsTheMemory) {
  constexpr int64_t kFloat64 = 2;
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  trace.Alloc(kBase, Tensor("a", 3 * kMiB, "[2]", kFloat64));
  trace.Alloc(kBase + 3 * kMiB, Tensor("b", 3 * kMiB, "[3]", kFloat64));
  trace.Fail(Tensor("c", 4 * kMiB, "[4]", kFloat64), Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  const Remedy* float32 = judged.FindRemedy("float32");
  ASSERT_NE(float32, nullptr);
  EXPECT_EQ(float32->bytes(), 3 * kMiB);
  EXPECT_EQ(float32->sufficiency(), REQUEST_FITS);
}

TEST(RemediesTest, ARefusedRequestAloneCanBeWorthMixedPrecision) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  trace.Alloc(kBase, Tensor("a", 3 * kMiB, "[3]", 3));
  trace.Fail(Tensor("model/dense/MatMul", 6 * kMiB), Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  const Remedy* mixed = judged.FindRemedy("mixed_precision");
  ASSERT_NE(mixed, nullptr);
  EXPECT_NE(mixed->detail().find("which halves the refused request."),
            std::string::npos)
      << mixed->detail();
}

TEST(RemediesTest, MixedPrecisionIsNoAdviceWhereLayersComputeInItAlready) {
  constexpr int64_t kHalf = 19;
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  // Batch normalization computes in float32 there, too.
  trace.Alloc(kBase, Tensor("model/bn/Relu", 3 * kMiB, "[3]"));
  trace.Alloc(kBase + 3 * kMiB, Tensor("model/conv/Relu", kMiB, "[3]", kHalf));
  trace.Fail(Tensor("model/dense/MatMul", 6 * kMiB), Oom(8 * kMiB));
  EXPECT_EQ(Judge(trace).FindRemedy("mixed_precision"), nullptr);
}

// A tape keeps 2 MiB of each step, and each works on as much.
TEST(RemediesTest, WhereStepsLeaveMoreBehindNoStepPromisesForTheNext) {
  TraceBuilder trace("bfc_cpu_allocator_for_gpu#0");
  trace.Region(kBase, 32 * kMiB);
  const Ask kept = Tensor("model/Relu", 2 * kMiB);
  const Ask work = Tensor("model/Gelu", 2 * kMiB, "[2]");
  std::vector<test::Stat> tape = {
      test::Text(schema::kChain, "GradientTape 'tape' in __main__"),
      test::Text(schema::kChain, "EagerTensor")};
  for (uint64_t step = 0; step < 15; ++step) {
    const uint64_t address = kBase + step * 2 * kMiB;
    trace.Step(static_cast<int64_t>(step)).Alloc(address, kept);
    tape.push_back(test::U64(schema::kAddress, address));
    trace.Alloc(address + 2 * kMiB, work).Free(address + 2 * kMiB);
  }
  trace.Step(15).Alloc(kBase + 30 * kMiB, kept).Fail(work, Oom(32 * kMiB));
  trace.SourceRecord(schema::kKeeperRecord, "", tape);
  const Judged judged = Judge(trace);
  ASSERT_NE(judged.oom->step(), nullptr);
  ASSERT_TRUE(judged.oom->step()->is_recorded());
  const Remedy* larger = judged.FindRemedy("larger_limit");
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(larger->sufficiency(), REQUEST_FITS);
  EXPECT_THAT(larger->proof(), HasSubstr("2.00 MiB more were in use"));
}

TEST(RemediesTest, ASmallerBatchOfTrainingSaysHowToAccumulateGradients) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  trace.Step(0).StepId(7);
  const uint64_t gradient = kBase + 14 * kMiB;
  trace.Alloc(gradient, Tensor("gradient_tape/model/dense/Relu", kMiB, "[9]"))
      .Free(gradient);
  for (uint64_t i = 0; i < 6; ++i) {
    trace.Alloc(kBase + i * 2 * kMiB,
                Tensor("model/dense_" + std::to_string(i) + "/Relu", 2 * kMiB,
                       "[32,16384]"));
  }
  trace.Fail(Tensor("model/dense_6/Relu", 8 * kMiB, "[32,65536]"),
             Oom(16 * kMiB));
  const Judged judged = Judge(trace);
  const Remedy* smaller = judged.FindRemedy("smaller_batch");
  ASSERT_NE(smaller, nullptr);
  const int64_t batch = smaller->values().batch_size();
  EXPECT_EQ(smaller->values().batch_size_before(), 32);
  EXPECT_THAT(smaller->detail(),
              HasSubstr(absl::StrCat(
                  "gradient_accumulation_steps=", (32 + batch - 1) / batch,
                  " of a Keras 3 optimizer")));
}

TEST(RemediesTest, NothingIsProposedWithoutEvidence) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  trace.Alloc(kBase, Tensor("a", 6 * kMiB));
  trace.Fail(Tensor("b", 4 * kMiB), Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_TRUE(judged.remedies.empty());
}

TEST(RemediesTest, WithoutALayoutNoRemedyIsSaidToHaveBeenTried) {
  TraceBuilder trace("gpu_async_0#0");
  trace.AllocatorStat(test::U64(schema::kHasLayout, 0));
  for (uint64_t i = 0; i < 12; ++i) {
    trace.Alloc(kBase + i * 64 * kMiB, Tensor("wide", kMiB, "[8]", 2));
  }
  trace.Fail(Tensor("b", 4 * kMiB), Oom(0));
  const Judged judged = Judge(trace);
  ASSERT_FALSE(judged.remedies.empty());
  for (const Remedy& remedy : judged.remedies) {
    EXPECT_EQ(remedy.sufficiency(), UNCERTAIN) << remedy.kind();
    EXPECT_THAT(remedy.proof(), HasSubstr("driver places the blocks"));
  }
}

}  // namespace
}  // namespace oom_forensics
