#include "converter/testing/fragmented_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::Fragmented;
using test::Get;
using test::kPool;
using test::kUnit;
using test::Place;
using test::TraceBuilder;
using ::testing::HasSubstr;

TEST(InfoTest, CountsAreExactAndTheBaselineIsCountedApart) {
  const auto run = Fragmented().Open();
  const auto info = Get<Info>(*run, INFO);
  ASSERT_EQ(info.hosts_size(), 1);
  ASSERT_EQ(info.hosts(0).allocators_size(), 1);
  const AllocatorInfo& allocator = info.hosts(0).allocators(0);
  EXPECT_EQ(allocator.alloc_count(), 15u);
  EXPECT_EQ(allocator.free_count(), 7u);
  EXPECT_EQ(allocator.oom_count(), 1u);
  EXPECT_EQ(allocator.baseline_count(), 1u);
  EXPECT_EQ(allocator.baseline_bytes(), 256u);
  EXPECT_EQ(allocator.peak_in_use_bytes(), 16 * kUnit);
  EXPECT_EQ(allocator.closeness(), 1.0);
  EXPECT_EQ(info.hosts(0).first_step(), 10);
  EXPECT_EQ(info.hosts(0).last_step(), 11);
}

TEST(InfoTest, TheCollectorsTotalsStandWhateverWasDropped) {
  TraceBuilder trace;
  trace.Alloc(0x1000, {})
      .AllocatorStat(test::U64(schema::kTotalAllocs, 1000))
      .AllocatorStat(test::U64(schema::kDroppedEvents, 999));
  const auto run = trace.Open();
  const auto info = Get<Info>(*run, INFO);
  EXPECT_EQ(info.hosts(0).allocators(0).alloc_count(), 1000u);
  EXPECT_THAT(
      info.quality(0).name() + info.quality(1).name() + info.quality(2).name(),
      HasSubstr("dropped_events"));
}

TEST(InfoTest, TheClosestToItsLimitComesFirst) {
  TraceBuilder idle("idle#0");
  idle.Alloc(0x1000, {});
  TraceBuilder full("full#0");
  full.Alloc(0x9000, {}).Fail({}, {true, 256, ""});
  const auto run = idle.Open({&full});
  const auto info = Get<Info>(*run, INFO);
  EXPECT_EQ(info.hosts(0).allocators(0).allocator(), "full#0");
}

TEST(InfoTest, HeadroomIsKnownWhereNothingRanOut) {
  TraceBuilder trace;
  trace.Region(kPool, 16 * kUnit)
      .Alloc(Place(0), {"op", "", 1, 4 * kUnit, 0})
      // What has been reserved yet is not the limit.
      .AllocatorStat(test::U64(schema::kBytesLimit, 64 * kUnit));
  const auto run = trace.Open();
  const auto info = Get<Info>(*run, INFO);
  const AllocatorInfo& allocator = info.hosts(0).allocators(0);
  EXPECT_EQ(allocator.oom_count(), 0u);
  EXPECT_EQ(allocator.limit_bytes(), 64 * kUnit);
  EXPECT_EQ(allocator.closeness(), 4.0 / 64);
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE);
  EXPECT_EQ(timeline.series(0).limit_bytes(), 64 * kUnit);
  const auto map = Get<Fragmentation>(*run, FRAGMENTATION);
  EXPECT_EQ(map.maps(0).measures().limit_bytes(), 64 * kUnit);
  EXPECT_EQ(map.maps(0).measures().growable_bytes(), 48 * kUnit);
}

TEST(InfoTest, ALibraryThatFailedIsJudgedByItsDevice) {
  test::TraceBuilder trace;
  trace.SessionStat(test::Text(schema::kLibraryError,
                               "No DNN in stream executor. [Op:Conv2D]"));
  trace.SessionStat(test::U64(schema::kTotalBytes, uint64_t{11264} << 20));
  trace.SessionStat(test::U64(schema::kFreeBytes, uint64_t{37} << 20));
  trace.SessionStat(test::U64(schema::kProcessBytes, uint64_t{11227} << 20));
  trace.SessionStat(test::U64(schema::kPoolsBytes, uint64_t{10650} << 20));
  trace.SessionStat(test::U64(schema::kPoolsInUseBytes, uint64_t{2150} << 20));
  const auto run = trace.Open();
  const HostInfo& host = run->hosts()[0].info;
  ASSERT_TRUE(host.has_library_failure());
  const LibraryFailure& failure = host.library_failure();
  EXPECT_EQ(failure.library(), "cuDNN");
  EXPECT_EQ(failure.kind(), "OUTSIDE_POOL");
  EXPECT_EQ(failure.others_bytes(), 0u);
  EXPECT_NE(failure.sentence().find("TensorFlow's pools hold 10.4 GiB (2.10 "
                                    "GiB in use)"),
            std::string::npos)
      << failure.sentence();
}

}  // namespace
}  // namespace oom_forensics
