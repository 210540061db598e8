#include "core/placement.h"

#include <string>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A full pool of 100 MiB in one region, with 30 MiB free in two gaps of 15.
PoolNumbers TwoGaps(uint64_t request_bytes) {
  PoolNumbers pool;
  pool.request_bytes = request_bytes;
  pool.reserved_bytes = pool.limit_bytes = 100 * kMiB;
  pool.free = FreeSpace{30 * kMiB, 2, 15 * kMiB, 1, 30 * kMiB};
  return pool;
}

double ShareOf(const PlacementVerdict& verdict, const std::string& kind) {
  for (const PlacementPart& part : verdict.parts) {
    if (part.kind == kind) return part.share;
  }
  return 0;
}

TEST(PlacementTest, EnoughInPiecesIsFragmentation) {
  const PlacementVerdict verdict = JudgePlacement(TwoGaps(20 * kMiB));
  EXPECT_STREQ(verdict.kind, "FRAGMENTATION");
  EXPECT_EQ(verdict.short_by_bytes, 5 * kMiB);
  EXPECT_EQ(verdict.sentence,
            "Enough memory was free, but not in one piece: 30.0 MiB lay in 2 "
            "separate gaps, the largest of them 15.0 MiB, and 20.0 MiB need "
            "one piece.");
  ASSERT_EQ(verdict.parts.size(), 1u);
  EXPECT_EQ(verdict.parts[0].share, 1);
}

TEST(PlacementTest, TooLittleInAllIsCapacity) {
  const PlacementVerdict verdict = JudgePlacement(TwoGaps(45 * kMiB));
  EXPECT_STREQ(verdict.kind, "CAPACITY");
  EXPECT_EQ(verdict.sentence,
            "There was not enough memory: 45.0 MiB were asked for, 30.0 MiB "
            "were left of 100.0 MiB, so at least 15.0 MiB more had to be "
            "free.");
  // The rest of the shortfall is that the gaps are two.
  EXPECT_DOUBLE_EQ(ShareOf(verdict, "CAPACITY"), 0.5);
  EXPECT_DOUBLE_EQ(ShareOf(verdict, "FRAGMENTATION"), 0.5);
}

TEST(PlacementTest, WhatOnlySeveralRegionsCouldGiveIsSaidOfRegions) {
  PoolNumbers pool = TwoGaps(20 * kMiB);
  pool.free->region_count = 2;
  pool.free->most_free_region_bytes = 15 * kMiB;
  EXPECT_STREQ(JudgePlacement(pool).kind, "GROWTH_REGIONS");
  pool.free->most_free_region_bytes = 20 * kMiB;
  EXPECT_STREQ(JudgePlacement(pool).kind, "FRAGMENTATION");
}

TEST(PlacementTest, ACrumbThatIsMissingInAllLeavesItToThePieces) {
  PoolNumbers pool = TwoGaps(30 * kMiB + 1024);
  pool.LimitBy("bfc_cpu_allocator_for_gpu#0",
               {"TF_CPU_BFC_MEM_LIMIT_IN_MB=100"});
  EXPECT_STREQ(JudgePlacement(pool).kind, "FRAGMENTATION");
  pool.free->region_count = 2;
  pool.free->most_free_region_bytes = 15 * kMiB;
  EXPECT_STREQ(JudgePlacement(pool).kind, "GROWTH_REGIONS");
}

TEST(PlacementTest, WhatThePoolMayStillTakeIsNotAGap) {
  PoolNumbers pool = TwoGaps(20 * kMiB);
  pool.limit_bytes = 110 * kMiB;
  EXPECT_EQ(pool.GrowableBytes(), 10 * kMiB);
  EXPECT_NE(JudgePlacement(pool).sentence.find(
                "10.0 MiB could still be taken from the device"),
            std::string::npos);
}

TEST(PlacementTest, ADeviceThatRefusesWhatTheLimitAllowsIsExternal) {
  PoolNumbers pool = TwoGaps(1024 * kMiB);
  pool.limit_bytes = 20 * 1024 * kMiB;
  const PlacementVerdict verdict = JudgePlacement(pool);
  EXPECT_STREQ(verdict.kind, "EXTERNAL");
  EXPECT_EQ(ShareOf(verdict, "CAPACITY"), 0);
  EXPECT_EQ(pool.GrowableBytes(), 0u) << "the device gave nothing";

  pool.device = DeviceNumbers{80 * 1024 * kMiB, 300 * kMiB, 0};
  EXPECT_EQ(pool.GrowableBytes(), 300 * kMiB);
  EXPECT_NE(JudgePlacement(pool).sentence.find(
                "the device, with 300.0 MiB of its 80.0 GiB free,"),
            std::string::npos);
}

TEST(PlacementTest, ADeviceThatHasMoreThanThePoolMayUseIsALimit) {
  PoolNumbers pool = TwoGaps(45 * kMiB);
  pool.device = DeviceNumbers{1000 * kMiB, 800 * kMiB, 0};
  const PlacementVerdict verdict = JudgePlacement(pool);
  EXPECT_STREQ(verdict.kind, "LIMIT");
  EXPECT_EQ(verdict.sentence,
            "TensorFlow may use 100.0 MiB of this device, which could give "
            "575.0 MiB more and still leave 225.0 MiB to libraries.");
}

TEST(PlacementTest, WhatTensorFlowLeavesToLibrariesIsNoLimit) {
  PoolNumbers pool = TwoGaps(45 * kMiB);
  pool.device = DeviceNumbers{500 * kMiB, 225 * kMiB, 0};
  EXPECT_STREQ(JudgePlacement(pool).kind, "CAPACITY");
  EXPECT_EQ(pool.SpareBytes(), 0u);

  // As of an A100: 1,536 MiB of what was free when the pool was made.
  pool.device = DeviceNumbers{4096 * kMiB, 2010 * kMiB, 0};
  EXPECT_EQ(pool.SpareBytes(), 210 * kMiB) << "the largest reserve is assumed";
  pool.device->free_bytes = 412 * kMiB;
  pool.reserved_bytes = 79 * 1024 * kMiB;
  EXPECT_EQ(pool.SpareBytes(), 0u);
}

TEST(PlacementTest, WhoHoldsAFullDeviceIsNamed) {
  PoolNumbers pool = TwoGaps(1024 * kMiB);
  pool.limit_bytes = 20 * 1024 * kMiB;
  pool.device = DeviceNumbers{4096 * kMiB, 74 * kMiB, 0};
  pool.device->sibling_bytes = 2000 * kMiB;
  EXPECT_NE(JudgePlacement(pool).sentence.find(
                "in one piece: TensorFlow's other pools on this device hold "
                "1.95 GiB."),
            std::string::npos);
  pool.device->process_bytes = 1022 * kMiB;
  EXPECT_NE(JudgePlacement(pool).sentence.find(
                "other processes hold 2.93 GiB, TensorFlow's other pools on "
                "this device hold 1.95 GiB."),
            std::string::npos);
}

TEST(PlacementTest, ALimitThatWasSetByHandTakesPart) {
  PoolNumbers pool = TwoGaps(45 * kMiB);
  pool.LimitBy("bfc_cpu_allocator_for_gpu#0",
               {"TF_CPU_BFC_MEM_LIMIT_IN_MB=100"});
  const PlacementVerdict verdict = JudgePlacement(pool);
  EXPECT_STREQ(verdict.kind, "CAPACITY");
  EXPECT_EQ(ShareOf(verdict, "LIMIT"), 1);
  EXPECT_EQ(verdict.parts[1].sentence,
            "The pool may not grow beyond 100.0 MiB, because "
            "TF_CPU_BFC_MEM_LIMIT_IN_MB=100 is set.");
}

TEST(PlacementTest, WhatTheProcessMayTakeOfTheDeviceLimitsAGpusPool) {
  PoolNumbers pool = TwoGaps(45 * kMiB);
  pool.limit_bytes = 80 * 1024 * kMiB;
  EXPECT_STREQ(JudgePlacement(pool).kind, "EXTERNAL");
  pool.LimitBy("GPU_0_bfc", {"TF_PER_DEVICE_MEMORY_LIMIT_MB=100",
                             "TF_GPU_HOST_MEM_LIMIT_IN_MB=10"});
  EXPECT_EQ(pool.limit_bytes, 100 * kMiB);
  EXPECT_STREQ(JudgePlacement(pool).kind, "CAPACITY");
}

TEST(PlacementTest, WithoutGapsOnlyTheDeviceTells) {
  PoolNumbers pool;
  pool.has_layout = false;
  pool.request_bytes = 20 * kMiB;
  EXPECT_STREQ(JudgePlacement(pool).kind, "UNKNOWN");
  EXPECT_NE(JudgePlacement(pool).sentence.find("driver refused 20.0 MiB"),
            std::string::npos);

  pool.device = DeviceNumbers{100 * kMiB, 5 * kMiB, 0};
  EXPECT_STREQ(JudgePlacement(pool).kind, "CAPACITY");
  pool.device->process_bytes = 71 * kMiB;
  EXPECT_STREQ(JudgePlacement(pool).kind, "EXTERNAL");
}

TEST(PlacementTest, NothingIsClaimedOfAPoolThatDidNotSayWhatWasFree) {
  PoolNumbers pool = TwoGaps(20 * kMiB);
  pool.free.reset();
  EXPECT_STREQ(JudgePlacement(pool).kind, "UNKNOWN");
  EXPECT_TRUE(JudgePlacement(pool).parts.empty());
}

TEST(PlacementTest, AGapThatWouldHaveDoneIsNoCause) {
  const PlacementVerdict verdict = JudgePlacement(TwoGaps(15 * kMiB));
  EXPECT_STREQ(verdict.kind, "UNKNOWN");
  EXPECT_EQ(verdict.short_by_bytes, 0u);
}

}  // namespace
}  // namespace oom_forensics
