#include "converter/datasets/what_if.h"

#include <memory>
#include <string>

#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Ask;
using test::Failure;
using test::TraceBuilder;

constexpr uint64_t kBase = uint64_t{1} << 32;
constexpr uint64_t kMiB = uint64_t{1} << 20;

Ask Tensor(const std::string& op, uint64_t bytes) {
  return {op, "[64]", 1, bytes, bytes, std::nullopt};
}

// A growing pool of 6 MiB: 1 MiB and 3 MiB live in regions of 2 and 4 MiB when
// 3 MiB more are refused.
std::unique_ptr<Run> FailedRun() {
  TraceBuilder trace;
  trace.Region(kBase, 2 * kMiB);
  trace.Alloc(kBase, Tensor("layer/small", kMiB));
  trace.Region(kBase + 64 * kMiB, 4 * kMiB);
  trace.Alloc(kBase + 64 * kMiB,
              {"layer/big", "[64]", 1, 3 * kMiB, 4 * kMiB, std::nullopt});
  Failure failure;
  failure.limit_bytes = 6 * kMiB;
  trace.Fail(Tensor("head/wanted", 3 * kMiB), failure);
  return trace.Open();
}

WhatIfAnswer Answer(const Run& run, const WhatIfSettings& settings) {
  Query query;
  query.set_dataset(WHAT_IF);
  *query.mutable_what_if() = settings;
  const auto answer = AnswerWhatIf({run, nullptr, query});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return static_cast<const WhatIfAnswer&>(**answer);
}

TEST(WhatIfTest, LeftAsItWasItFailsAsItDid) {
  const auto run = FailedRun();
  const WhatIfAnswer answer = Answer(*run, {});
  EXPECT_FALSE(answer.fits());
  EXPECT_EQ(answer.asked().refused().op_name(), "head/wanted");
  EXPECT_EQ(answer.asked().refused_ns(), answer.recorded().refused_ns());
  EXPECT_EQ(answer.requests(), 2u);
  EXPECT_EQ(answer.placed_alike(), 2u);
  EXPECT_EQ(answer.peak_reserved_bytes(), 6 * kMiB);
  EXPECT_EQ(answer.doubts_size(), 0);
}

TEST(WhatIfTest, ALargerLimitIsFoundWhereItIsEnough) {
  const auto run = FailedRun();
  WhatIfSettings settings;
  settings.set_find_smallest_limit(true);
  const WhatIfAnswer answer = Answer(*run, settings);
  // The region that is left must hold 3 MiB.
  EXPECT_EQ(answer.smallest_limit_bytes(), 9 * kMiB);
  settings.set_limit_bytes(9 * kMiB);
  EXPECT_TRUE(Answer(*run, settings).fits());
  settings.set_limit_bytes(9 * kMiB - 256);
  EXPECT_FALSE(Answer(*run, settings).fits());
}

TEST(WhatIfTest, OneRegionWastesNothingBetweenRegions) {
  const auto run = FailedRun();
  WhatIfSettings settings;
  settings.set_growth(false);
  settings.set_find_smallest_limit(true);
  const WhatIfAnswer answer = Answer(*run, settings);
  EXPECT_FALSE(answer.fits());
  EXPECT_EQ(answer.smallest_limit_bytes(), 7 * kMiB);
}

TEST(WhatIfTest, ALowerLimitFailsEarlier) {
  const auto run = FailedRun();
  WhatIfSettings settings;
  settings.set_limit_bytes(3 * kMiB);
  const WhatIfAnswer answer = Answer(*run, settings);
  EXPECT_FALSE(answer.fits());
  EXPECT_EQ(answer.asked().refused().op_name(), "layer/big");
  EXPECT_LT(answer.asked().lasted_ns(), answer.recorded().lasted_ns());
}

TEST(WhatIfTest, WhatIsLeftOutOrSmallerLeavesRoom) {
  const auto run = FailedRun();
  WhatIfSettings settings;
  settings.add_without_scope("layer");
  EXPECT_TRUE(Answer(*run, settings).fits());
  settings.Clear();
  settings.add_dtype()->set_dtype("float16");
  const WhatIfAnswer halved = Answer(*run, settings);
  EXPECT_TRUE(halved.fits());
  EXPECT_EQ(halved.peak_in_use_bytes(), 7 * kMiB / 2);
}

TEST(WhatIfTest, WhereHolesAreNoWasteOnlyTheSumCounts) {
  const auto run = FailedRun();
  WhatIfSettings settings;
  settings.set_allocator_kind("async");
  EXPECT_FALSE(Answer(*run, settings).fits());
  settings.set_limit_bytes(7 * kMiB);
  const WhatIfAnswer answer = Answer(*run, settings);
  EXPECT_TRUE(answer.fits());
  EXPECT_GT(answer.doubts_size(), 0);
}

TEST(WhatIfTest, TheTwoMapsStandSideBySide) {
  const auto run = FailedRun();
  WhatIfSettings settings;
  settings.set_limit_bytes(64 * kMiB);
  settings.set_maps(true);
  const WhatIfAnswer answer = Answer(*run, settings);
  ASSERT_EQ(answer.recorded().map().regions_size(), 2);
  ASSERT_EQ(answer.asked().map().regions_size(), 2);
  EXPECT_EQ(answer.asked().map().chunks(0).allocation().op_name(),
            "layer/small");
}

TEST(WhatIfTest, ARecordingWithoutAnOomIsAsked) {
  TraceBuilder trace;
  trace.AllocatorStat(test::U64("bytes_limit", 64 * kMiB));
  trace.Region(kBase, 2 * kMiB);
  trace.Alloc(kBase, Tensor("a", kMiB)).Free(kBase);
  const auto run = trace.Open();
  WhatIfSettings settings;
  settings.set_find_smallest_limit(true);
  const WhatIfAnswer answer = Answer(*run, settings);
  EXPECT_TRUE(answer.fits());
  EXPECT_TRUE(answer.recorded().fits());
  EXPECT_EQ(answer.recorded().limit_bytes(), 64 * kMiB);
  EXPECT_EQ(answer.smallest_limit_bytes(), kMiB);
  EXPECT_EQ(answer.doubts_size(), 0);
}

TEST(WhatIfTest, APoolOfOneRegionHasALargerOneInALargerLimit) {
  TraceBuilder trace;
  trace.BaselineRegion(kBase, 8 * kMiB)
      .BaselineChunk(kBase, Tensor("a", kMiB), 5)
      .BaselineChunk(kBase + 3 * kMiB, Tensor("b", 2 * kMiB), 5);
  Failure failure;
  failure.limit_bytes = 8 * kMiB;
  trace.Fail(Tensor("wanted", 5 * kMiB), failure);
  const auto run = trace.Open();
  WhatIfSettings settings;
  settings.set_find_smallest_limit(true);
  const WhatIfAnswer answer = Answer(*run, settings);
  EXPECT_FALSE(answer.fits());
  EXPECT_FALSE(answer.recorded().growth());
  // What lies at its beginning stays there; a smaller one would be filled
  // again.
  EXPECT_EQ(answer.smallest_limit_bytes(), 10 * kMiB);
}

TEST(WhatIfTest, AnAllocatorWithoutAPoolHasOnlySums) {
  TraceBuilder trace("cuda_malloc_async#0");
  trace.AllocatorStat(test::U64("has_layout", 0));
  trace.AllocatorStat(test::U64("bytes_limit", 4 * kMiB));
  trace.Alloc(kBase, Tensor("a", 2 * kMiB));
  trace.Alloc(2 * kBase, Tensor("b", kMiB));
  const auto run = trace.Open();
  Query query;
  const auto refused = AnswerWhatIf({*run, nullptr, query});
  EXPECT_NE(refused.status().message().find("no pool"), std::string::npos);
  WhatIfSettings settings;
  settings.set_allocator_kind("async");
  settings.set_find_smallest_limit(true);
  const WhatIfAnswer answer = Answer(*run, settings);
  EXPECT_TRUE(answer.fits());
  EXPECT_EQ(answer.smallest_limit_bytes(), 3 * kMiB);
  EXPECT_EQ(answer.requests(), 0u);
}

TEST(WhatIfTest, ATraceOfTheBaselineAloneIsAsked) {
  TraceBuilder trace;
  trace.BaselineRegion(kBase, 2 * kMiB)
      .BaselineChunk(kBase, Tensor("a", kMiB), 5);
  const auto run = trace.Open();
  WhatIfSettings settings;
  settings.set_find_smallest_limit(true);
  const WhatIfAnswer answer = Answer(*run, settings);
  EXPECT_TRUE(answer.fits());
  EXPECT_EQ(answer.asked().lasted_ns(), 0u);
  EXPECT_NE(answer.doubts_size(), 0) << "the trace does not say the limit";
}

TEST(WhatIfTest, WhatCannotBeAskedIsSaid) {
  const auto run = FailedRun();
  Query query;
  query.mutable_what_if()->set_batch_scale(0.5);
  EXPECT_FALSE(AnswerWhatIf({*run, nullptr, query}).ok());
  query.mutable_what_if()->Clear();
  query.mutable_what_if()->add_dtype()->set_dtype("int4");
  EXPECT_FALSE(AnswerWhatIf({*run, nullptr, query}).ok());
  query.mutable_what_if()->Clear();
  query.mutable_what_if()->set_allocator_kind("jemalloc");
  EXPECT_FALSE(AnswerWhatIf({*run, nullptr, query}).ok());
  query.mutable_what_if()->Clear();
  query.mutable_what_if()->add_without_scope("no/such/scope");
  const auto answer = AnswerWhatIf({*run, nullptr, query});
  EXPECT_NE(answer.status().message().find("no/such/scope"), std::string::npos);
}

}  // namespace
}  // namespace oom_forensics
