#include "converter/forensics/verdict/verdict.h"

#include <memory>

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
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBase = 0x10000000;

TEST(VerdictTest, LessFreeThanAskedForIsCapacity) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  trace.Alloc(kBase, Tensor("a", 6 * kMiB));
  trace.Fail(Tensor("b", 4 * kMiB), Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_EQ(judged.verdict.short_by_bytes(), 2 * kMiB);
  EXPECT_DOUBLE_EQ(judged.ShareOf("CAPACITY"), 1);
}

TEST(VerdictTest, EnoughFreeInPiecesOfOneRegionIsFragmentation) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  for (uint64_t i = 0; i < 8; ++i) {
    trace.Alloc(kBase + i * kMiB, Tensor("a", kMiB));
  }
  for (uint64_t i = 0; i < 8; i += 2) trace.Free(kBase + i * kMiB);
  trace.Fail(Tensor("b", 2 * kMiB), Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "FRAGMENTATION");
  EXPECT_EQ(judged.verdict.short_by_bytes(), kMiB);
  EXPECT_DOUBLE_EQ(judged.ShareOf("FRAGMENTATION"), 1);
  EXPECT_TRUE(judged.oom->what_if().IsFaithful());
  const Remedy* pins = judged.FindRemedy("release_pins");
  ASSERT_NE(pins, nullptr);
  EXPECT_EQ(pins->sufficiency(), REQUEST_FITS);
}

TEST(VerdictTest, WhatALaterRunAsksForIsNoPartOfTheRefusedOne) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  for (uint64_t i = 0; i < 8; ++i) {
    trace.Alloc(kBase + i * kMiB, Tensor("a", kMiB));
  }
  for (uint64_t i = 0; i < 8; i += 2) trace.Free(kBase + i * kMiB);
  trace.StepId(1).Fail(Tensor("b", 2 * kMiB), Oom(8 * kMiB));
  // The program caught the error, and tried something larger.
  trace.StepId(2).Fail(Tensor("c", 64 * kMiB), Oom(8 * kMiB));
  EXPECT_EQ(Judge(trace, std::nullopt, 0).verdict.kind(), "FRAGMENTATION");
  EXPECT_EQ(Judge(trace, std::nullopt, 1).verdict.kind(), "CAPACITY");
}

TEST(VerdictTest, WhatTheSameRunAsksForNeedsAPlaceAsWell) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  for (uint64_t i = 0; i < 8; ++i) {
    trace.Alloc(kBase + i * kMiB, Tensor("a", kMiB));
  }
  for (uint64_t i = 0; i < 8; i += 2) trace.Free(kBase + i * kMiB);
  trace.StepId(1).Fail(Tensor("b", 2 * kMiB), Oom(8 * kMiB));
  trace.Fail(Tensor("c", 64 * kMiB), Oom(8 * kMiB));
  EXPECT_EQ(Judge(trace, std::nullopt, 0).verdict.kind(), "CAPACITY");
}

TEST(VerdictTest, CrumbsInManyGapsAreAFullPoolNotFragmentation) {
  TraceBuilder trace;
  trace.Region(kBase, 64 * kMiB);
  trace.Alloc(kBase, Tensor("a", 63 * kMiB));
  for (uint64_t i = 0; i < 8; ++i) {
    trace.Alloc(kBase + (63 * 8 + i) * kMiB / 8, Tensor("b", kMiB / 8, "[8]"));
  }
  for (uint64_t i = 0; i < 8; i += 2) {
    trace.Free(kBase + (63 * 8 + i) * kMiB / 8);
  }
  trace.Fail(Tensor("c", kMiB / 4), Oom(64 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("The pool is full: 512.0 KiB of 64.0 MiB are left"));
  EXPECT_EQ(judged.FindRemedy("release_pins"), nullptr);
}

TEST(VerdictTest, EnoughFreeInDifferentRegionsIsGrowthRegions) {
  TraceBuilder trace;
  trace.Region(kBase, 2 * kMiB);
  trace.Alloc(kBase, Tensor("a", kMiB));
  trace.Region(kBase + 4 * kMiB, 4 * kMiB);
  trace.Alloc(kBase + 4 * kMiB, Tensor("c", 2 * kMiB));
  trace.Fail(Tensor("b", 3 * kMiB), Oom(6 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "GROWTH_REGIONS");
  EXPECT_DOUBLE_EQ(judged.ShareOf("GROWTH_REGIONS"), 1);
}

TEST(VerdictTest, CausesDivideTheShortfallExactly) {
  TraceBuilder trace;
  trace.Region(kBase, 4 * kMiB);
  for (uint64_t i = 0; i < 4; ++i) {
    trace.Alloc(kBase + i * kMiB, Tensor("a", kMiB));
  }
  trace.Region(kBase + 16 * kMiB, 4 * kMiB);
  trace.Alloc(kBase + 16 * kMiB, Tensor("c", 3 * kMiB, "[1]"));
  trace.Free(kBase);
  trace.Free(kBase + 2 * kMiB);
  // 1 + 1 MiB in the first region, 1 MiB in the second; 4 MiB asked for.
  trace.Fail(Tensor("b", 4 * kMiB), Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_NEAR(judged.ShareOf("CAPACITY") + judged.ShareOf("FRAGMENTATION") +
                  judged.ShareOf("GROWTH_REGIONS"),
              1, 1e-9);
  EXPECT_NEAR(judged.ShareOf("FRAGMENTATION"), 1.0 / 3, 1e-9);
}

TEST(VerdictTest, APoolBelowItsLimitThatCouldNotGrowIsExternal) {
  TraceBuilder trace;
  trace.Region(kBase, 2 * kMiB);
  trace.Alloc(kBase, Tensor("a", 2 * kMiB));
  trace.Fail(Tensor("b", 4 * kMiB), Oom(64 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "EXTERNAL");
  EXPECT_EQ(judged.verdict.short_by_bytes(), 4 * kMiB);
  EXPECT_EQ(judged.ShareOf("CAPACITY"), 0);
  EXPECT_EQ(judged.FindRemedy("larger_limit"), nullptr);
  EXPECT_EQ(judged.FindRemedy("free_device"), nullptr);  // Nobody looked.
}

// A device of 64 MiB for a request of 4 MiB beside one pool, as it stands.
DevicePressure Device(uint64_t free_bytes, uint64_t pool_bytes,
                      uint64_t pool_limit_bytes) {
  DevicePressure device;
  device.total_bytes = 64 * kMiB;
  device.free_bytes = free_bytes;
  device.pools_bytes = device.pool_bytes = pool_bytes;
  device.pool_limit_bytes = pool_limit_bytes;
  device.request_bytes = 4 * kMiB;
  return device;
}

TEST(VerdictTest, AFullDeviceIsCuredByTheProcessesThatFillIt) {
  TraceBuilder trace;
  trace.Region(kBase, 2 * kMiB);
  trace.Alloc(kBase, Tensor("a", 2 * kMiB));
  trace.Fail(Tensor("b", 4 * kMiB), Oom(64 * kMiB));
  DevicePressure device = Device(kMiB, 2 * kMiB, 64 * kMiB);
  device.process_bytes = 3 * kMiB;
  const Judged judged = Judge(trace, device);
  EXPECT_EQ(judged.verdict.kind(), "EXTERNAL");
  EXPECT_EQ(judged.verdict.short_by_bytes(), 3 * kMiB);
  const Remedy* stop = judged.FindRemedy("free_device");
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->bytes(), 60 * kMiB);
  EXPECT_EQ(stop->sufficiency(), REQUEST_FITS);
}

TEST(VerdictTest, GrowthStepByStepIsLeakLikeAndALargerLimitNoCure) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  for (uint64_t step = 0; step < 16; ++step) {
    trace.Step(static_cast<int64_t>(step));
    trace.Alloc(kBase + step * kMiB, Tensor("model/dense/Relu", kMiB));
  }
  trace.Step(16);
  trace.Fail(Tensor("model/dense/Relu", kMiB), Oom(16 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "LEAK_LIKE");
  const Remedy* release = judged.FindRemedy("release_leak");
  ASSERT_NE(release, nullptr);
  // Nothing tells who keeps them.
  EXPECT_EQ(release->sufficiency(), UNCERTAIN);
  EXPECT_EQ(judged.remedies.front().kind(), "release_leak");
}

TEST(VerdictTest, WhatIsAlwaysFreedMomentsLaterIsATransientPeak) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  const Ask result = Tensor("model/MatMul", 4 * kMiB, "[1,1]");
  const Ask scratch = Tensor("model/scratch", 6 * kMiB, "[6]");
  for (int i = 0; i < 5; ++i) {
    trace.Step(i);
    trace.Alloc(kBase, scratch).Free(kBase);
    trace.Alloc(kBase, result).Free(kBase);
  }
  // This once the scratch space is still there.
  trace.Step(5).Alloc(kBase, scratch).Fail(result, Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "TRANSIENT_PEAK");
  EXPECT_EQ(judged.verdict.short_by_bytes(), 2 * kMiB);
  EXPECT_DOUBLE_EQ(judged.ShareOf("TRANSIENT_PEAK"), 1);
  EXPECT_THAT(judged.verdict.sentence(), HasSubstr("served in 5 steps before"));
}

TEST(VerdictTest, AStepThatKeepsMoreThanThoseBeforeMeetsNoTransientPeak) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  const Ask scratch = Tensor("model/scratch", 2 * kMiB, "[2]");
  const Ask kept = Tensor("model/while/MatMul", kMiB, "[1]");
  const uint64_t above = kBase + 6 * kMiB;
  // A loop of so many iterations, each of which keeps something.
  const auto iterate = [&](uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      trace.Alloc(above, scratch).Free(above);
      trace.Alloc(kBase + i * kMiB, kept);
    }
  };
  for (int step = 0; step < 5; ++step) {
    trace.Step(step);
    iterate(3);
    for (int i = 0; i < 600; ++i) trace.Alloc(above, scratch).Free(above);
    for (uint64_t i = 0; i < 3; ++i) trace.Free(kBase + i * kMiB);
  }
  trace.Step(5);
  iterate(6);
  trace.Alloc(above, scratch).Fail(kept, Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_EQ(judged.ShareOf("TRANSIENT_PEAK"), 0);
}

TEST(VerdictTest, AFirstStepMeetsNoTransientPeak) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  const Ask result = Tensor("model/MatMul", 4 * kMiB, "[1,1]");
  const Ask scratch = Tensor("model/scratch", 6 * kMiB, "[6]");
  trace.Step(0);
  for (int i = 0; i < 5; ++i) {
    trace.Alloc(kBase, scratch).Free(kBase);
    trace.Alloc(kBase, result).Free(kBase);
  }
  trace.Alloc(kBase, scratch).Fail(result, Oom(8 * kMiB));
  EXPECT_EQ(Judge(trace).verdict.kind(), "CAPACITY");
}

TEST(VerdictTest, ModelsOfEarlierRoundsAreRetained) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  Ask kernel = Tensor("AddV2", 3 * kMiB, "[3]");
  kernel.eager = true;
  for (uint64_t round = 0; round < 3; ++round) {
    trace.Alloc(kBase + round * 3 * kMiB, kernel);
    for (int64_t step = 0; step < 2; ++step) {
      trace.Step(static_cast<int64_t>(2 * round) + step);
      const uint64_t work = kBase + 12 * kMiB;
      trace.Alloc(work, Tensor("model/Relu", kMiB)).Free(work);
    }
    trace.EndStep();
  }
  trace.Step(6);
  trace.Fail(Tensor("model/Relu", 8 * kMiB), Oom(16 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "RETAINED") << judged.verdict.sentence();
  EXPECT_THAT(judged.verdict.sentence(), HasSubstr("made 3 times"));
  const Remedy* release = judged.FindRemedy("release_models");
  ASSERT_NE(release, nullptr);
  EXPECT_EQ(release->bytes(), 6 * kMiB);
}

TEST(VerdictTest, WhatAFailedAttemptLeftBehindIsRetained) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  const auto eager = [](const std::string& op, uint64_t bytes,
                        const std::string& shape) {
    Ask ask = Tensor(op, bytes, shape);
    ask.eager = true;
    return ask;
  };
  trace.Alloc(kBase, eager("normal", 2 * kMiB, "[2]"));
  trace.Alloc(kBase + 2 * kMiB, eager("MatMul", 12 * kMiB, "[8]"));
  trace.Fail(eager("Relu", 12 * kMiB, "[8]"), Oom(16 * kMiB));
  trace.Alloc(kBase + 14 * kMiB, eager("normal", kMiB, "[1]"));
  trace.Fail(eager("MatMul", 6 * kMiB, "[4]"), Oom(16 * kMiB));
  const Judged judged = Judge(trace, std::nullopt, 1);
  EXPECT_EQ(judged.verdict.kind(), "RETAINED") << judged.verdict.sentence();
  EXPECT_NE(judged.FindRemedy("release_exception"), nullptr);
}

TEST(VerdictTest, WhatALoopKeepsForTheBackwardPassIsCapacityAndSaidSo) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB);
  trace.StepId(7);
  const std::string body = "Call/model/lstm/while/body/_3/model/lstm/while/";
  for (uint64_t i = 0; i < 12; ++i) {
    trace.Alloc(kBase + i * kMiB, Tensor(body + "split", kMiB));
  }
  trace.Fail(Tensor(body + "split", 8 * kMiB), Oom(16 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("12.0 MiB of the 12 that were done"));
}

TEST(VerdictTest, WhatWasNeverServedBeforeIsNoTransientPeak) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  const Ask scratch = Tensor("model/scratch", 6 * kMiB, "[6]");
  for (int i = 0; i < 5; ++i) trace.Alloc(kBase, scratch).Free(kBase);
  trace.Alloc(kBase, scratch)
      .Fail(Tensor("model/MatMul", 4 * kMiB), Oom(8 * kMiB));
  EXPECT_EQ(Judge(trace).verdict.kind(), "CAPACITY");
}

TEST(VerdictTest, ALimitBelowWhatTheDeviceHasIsLimit) {
  TraceBuilder trace;
  trace.Region(kBase, 8 * kMiB);
  trace.Alloc(kBase, Tensor("a", 6 * kMiB));
  trace.Fail(Tensor("b", 4 * kMiB), Oom(8 * kMiB));
  const Verdict verdict =
      Judge(trace, Device(4096 * kMiB, 8 * kMiB, 8 * kMiB)).verdict;
  EXPECT_EQ(verdict.kind(), "LIMIT");
  EXPECT_THAT(verdict.sentence(),
              HasSubstr("which could give 2.24 GiB more and still leave 1.76 "
                        "GiB to libraries"));
  // What TensorFlow leaves to libraries is no limit that somebody set.
  EXPECT_EQ(Judge(trace, Device(32 * kMiB, 8 * kMiB, 8 * kMiB)).verdict.kind(),
            "CAPACITY");
}

// An allocator that takes each block from the driver, with 6 MiB in use in
// pieces far from each other.
TraceBuilder WithoutLayout() {
  TraceBuilder trace("gpu_async_0#0");
  trace.AllocatorStat(test::U64(schema::kHasLayout, 0));
  for (uint64_t i = 0; i < 6; ++i) {
    trace.Alloc(kBase + i * 64 * kMiB, Tensor("a", kMiB));
  }
  return trace;
}

TEST(VerdictTest, WithoutALayoutAndALimitTheReasonIsNotKnown) {
  TraceBuilder trace = WithoutLayout();
  trace.Fail(Tensor("b", 4 * kMiB), Oom(0));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "UNKNOWN");
  EXPECT_THAT(judged.verdict.sentence(),
              HasSubstr("The device's driver refused 4.00 MiB"));
  EXPECT_THAT(judged.verdict.doubt(), HasSubstr("does not say what was free"));
  for (const Evidence& fact : judged.verdict.evidence()) {
    EXPECT_THAT(fact.name(), AnyOf("rounded_bytes", "in_use_bytes"));
  }
}

TEST(VerdictTest, WithoutALayoutALimitStillTellsALackOfMemory) {
  TraceBuilder trace = WithoutLayout();
  trace.Fail(Tensor("b", 4 * kMiB), Oom(8 * kMiB));
  const Judged judged = Judge(trace);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  EXPECT_EQ(judged.verdict.short_by_bytes(), 2 * kMiB);
  EXPECT_DOUBLE_EQ(judged.ShareOf("FRAGMENTATION"), 0);
}

TEST(VerdictTest, WithoutALayoutAFullDeviceIsALackOfMemory) {
  DevicePressure device;
  device.total_bytes = 16 * kMiB;
  device.free_bytes = 1 * kMiB;
  device.process_bytes = 15 * kMiB;
  device.pools_bytes = 6 * kMiB;
  TraceBuilder trace = WithoutLayout();
  trace.Fail(Tensor("b", 4 * kMiB), Oom(0));
  const Judged judged = Judge(trace, device);
  EXPECT_EQ(judged.verdict.kind(), "CAPACITY");
  for (const Evidence& fact : judged.verdict.evidence()) {
    EXPECT_NE(fact.name(), "placed_alike") << "only sums were tried";
  }
  // Another process has what this one lacks.
  device.process_bytes = 7 * kMiB;
  EXPECT_EQ(Judge(trace, device).verdict.kind(), "EXTERNAL");
}

}  // namespace
}  // namespace oom_forensics
