#include "converter/reader/trace_reader.h"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::FieldOrder;
using test::I64;
using test::kStartNs;
using test::PlaneBuilder;
using test::Real;
using test::SerializeSpace;
using test::TraceBuilder;
using test::U64;
using ::testing::HasSubstr;

std::unique_ptr<const HostTrace> Read(const std::string& bytes) {
  auto trace = ReadTraceFromBytes(bytes, "host0.xplane.pb", ReadOptions());
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : nullptr;
}

// The text of an error that a file gives.
std::string Error(const std::string& bytes, const ReadOptions& options = {}) {
  const auto trace = ReadTraceFromBytes(bytes, "x.xplane.pb", options);
  EXPECT_FALSE(trace.ok());
  return std::string(trace.status().message());
}

TEST(TraceReaderTest, ReadsWhatAnAllocationSays) {
  TraceBuilder builder("GPU_0_bfc#3");
  builder.Thread(77).StepId(-5).Alloc(
      0xffff'ffff'0000'1000, {"model/dense/MatMul", "[8,16]", 1, 500, 512});
  const auto trace = Read(builder.Serialize());
  ASSERT_EQ(trace->allocators.size(), 1u);
  const AllocatorTrace& allocator = trace->allocators[0];
  EXPECT_EQ(allocator.name, "GPU_0_bfc#3");
  ASSERT_EQ(allocator.row_count(), 1u);
  EXPECT_EQ(allocator.kind_of[0], RowKind::kAlloc);
  EXPECT_EQ(allocator.address[0], 0xffff'ffff'0000'1000u)
      << "addresses use all 64 bits";
  EXPECT_EQ(allocator.ContextOf(0).thread, 77u);
  EXPECT_EQ(allocator.ContextOf(0).step_id, -5);
  const AllocationSite& site = trace->sites.Get(allocator.site[0]);
  EXPECT_EQ(trace->OpOf(site), "model/dense/MatMul");
  EXPECT_EQ(trace->ShapeOf(site), "[8,16]");
  EXPECT_EQ(site.dtype, 1);
  EXPECT_EQ(site.requested_bytes, 500u);
  EXPECT_EQ(site.allocated_bytes, 512u);
  EXPECT_EQ(trace->ToNs(allocator.time_ps[0]), kStartNs + 1000);
}

TEST(TraceReaderTest, StepIdAndThreadStayUntilTheyChange) {
  TraceBuilder builder;
  builder.Thread(1).Alloc(0x1000, {}).Alloc(0x2000, {});
  builder.StepId(9).Alloc(0x3000, {});
  builder.Thread(2).Free(0x1000);
  const auto trace = Read(builder.Serialize());
  const AllocatorTrace& allocator = trace->allocators[0];
  EXPECT_EQ(allocator.ContextOf(1).thread, 1u);
  EXPECT_EQ(allocator.ContextOf(1).step_id, 0) << "0 before the first one";
  EXPECT_EQ(allocator.ContextOf(2).step_id, 9);
  EXPECT_EQ(allocator.ContextOf(3).thread, 2u);
  EXPECT_EQ(allocator.ContextOf(3).step_id, 9);
}

TEST(TraceReaderTest, ALongLineIsReadAlikeByOneThreadAndBySeveral) {
  TraceBuilder builder;
  for (uint64_t i = 0; i < 150'000; ++i) {
    if (i % 1000 == 1) builder.Thread(i);
    if (i % 700 == 3) builder.StepId(static_cast<int64_t>(i));
    if (i % 5000 == 7) builder.Fail({"op", "", 1, i, 0}, {true, 1 << 20, ""});
    if (i % 9000 == 11) builder.Region((i + 1) << 24, 1 << 20);
    if (i % 2 == 0) {
      builder.Alloc(0x1000 + 256 * i, {i % 4 == 0 ? "a" : "b"});
    } else {
      builder.Free(0x1000 + 256 * (i - 1));
    }
  }
  const std::string bytes = builder.Serialize();
  ASSERT_GT(bytes.size(), size_t{2} << 20) << "several pieces";
  ReadOptions options;
  options.threads = 3;
  const auto several = ReadTraceFromBytes(bytes, "host0.xplane.pb", options);
  ASSERT_TRUE(several.ok());
  const auto one = Read(bytes);
  const AllocatorTrace& a = one->allocators[0];
  const AllocatorTrace& b = (*several)->allocators[0];
  EXPECT_GT(a.row_count(), 150'000u);
  EXPECT_EQ(a.kind_of, b.kind_of);
  EXPECT_EQ(a.time_ps, b.time_ps);
  EXPECT_EQ(a.address, b.address);
  EXPECT_EQ(a.site, b.site);
  EXPECT_EQ(a.context, b.context);
  ASSERT_EQ(a.failures.size(), 30u);
  EXPECT_EQ(a.failures.size(), b.failures.size());
  EXPECT_EQ(a.failures.back().row, b.failures.back().row);
  EXPECT_EQ(a.ContextOf(a.row_count() - 1).thread, 149'001u);
  EXPECT_EQ(b.ContextOf(a.row_count() - 1).thread, 149'001u);
  EXPECT_EQ(b.ContextOf(a.row_count() - 1).step_id, 149'803);
}

TEST(TraceReaderTest, SitesThatShareANameAreToldApartByTheirId) {
  TraceBuilder builder;
  builder.Alloc(0x1000, {"a", "", 1, 256, 0})
      .Alloc(0x2000, {"b", "", 1, 999, 0});
  const auto trace = Read(builder.Serialize());
  const AllocatorTrace& allocator = trace->allocators[0];
  EXPECT_EQ(trace->OpOf(trace->sites.Get(allocator.site[0])), "a");
  EXPECT_EQ(trace->OpOf(trace->sites.Get(allocator.site[1])), "b");
  EXPECT_EQ(trace->sites.Get(allocator.site[1]).allocated_bytes, 1024u);
}

TEST(TraceReaderTest, FieldsMayComeInAnyOrder) {
  PlaneBuilder plane("/oom_forensics:bfc#0");
  const int64_t alloc = plane.AddEventMetadata(
      "alloc", "op", {U64("requested_bytes", 10), U64("allocated_bytes", 256)});
  plane.AddLine({0, "events", 0, {{alloc, 5000, 0, {U64("address", 64)}}}});
  const auto trace =
      Read(SerializeSpace({plane.Serialize(FieldOrder::kReversed)}));
  ASSERT_EQ(trace->allocators.size(), 1u);
  ASSERT_EQ(trace->allocators[0].row_count(), 1u);
  EXPECT_EQ(trace->sites.Get(trace->allocators[0].site[0]).requested_bytes,
            10u);
}

TEST(TraceReaderTest, AFailureKeepsWhatTheAllocatorSaid) {
  TraceBuilder builder;
  builder.Fail({"big/op", "[4]", 2, 5000, 0}, {true, 1 << 20, "dump"});
  builder.Fail({"probe", "", 1, 7, 0}, {false, 1 << 20, ""});
  const auto trace = Read(builder.Serialize());
  const AllocatorTrace& allocator = trace->allocators[0];
  ASSERT_EQ(allocator.failures.size(), 2u);
  EXPECT_TRUE(allocator.failures[0].is_oom);
  EXPECT_EQ(allocator.failures[0].limit_bytes, 1u << 20);
  EXPECT_EQ(allocator.failures[0].Dump(), "dump");
  EXPECT_FALSE(allocator.failures[1].is_oom);
  EXPECT_EQ(allocator.limit_bytes, 1u << 20);
}

TEST(TraceReaderTest, TheLimitIsAFactOfTheAllocatorWithoutAFailureToo) {
  TraceBuilder builder;
  builder.Alloc(0x1000, {}).AllocatorStat(U64(schema::kBytesLimit, 1 << 20));
  EXPECT_EQ(Read(builder.Serialize())->allocators[0].limit_bytes, 1u << 20);
}

TEST(TraceReaderTest, WhatTheCollectorHadNoRoomForIsSaid) {
  TraceBuilder builder;
  builder.Alloc(0x1000, {})
      .AllocatorStat(U64(schema::kBaselineComplete, 0))
      .AllocatorStat(U64(schema::kUnlistedAllocations, 3))
      .SessionStat(U64(schema::kUnnamedAllocations, 4))
      .SessionStat(U64(schema::kUnknownAllocatorRequests, 5));
  const auto trace = Read(builder.Serialize());
  const QualityLog& allocator = trace->allocators[0].quality;
  EXPECT_EQ(allocator.count(QualityCounter::kLiveSetFull), 3u);
  EXPECT_EQ(allocator.count(QualityCounter::kIncompleteBaseline), 0u);
  EXPECT_EQ(trace->quality.count(QualityCounter::kSiteTableFull), 4u);
  EXPECT_EQ(trace->quality.count(QualityCounter::kAllocatorTableFull), 5u);
}

TEST(TraceReaderTest, AnAllocatorWithoutALayoutIsSaidToBeOne) {
  TraceBuilder direct;
  direct.Alloc(0x1000, {}).AllocatorStat(U64(schema::kHasLayout, 0));
  const auto trace = Read(direct.Serialize());
  EXPECT_FALSE(trace->allocators[0].has_layout);
  EXPECT_EQ(trace->allocators[0].quality.count(QualityCounter::kNoLayout), 1u);

  TraceBuilder contradiction;
  contradiction.Region(0x1000, 4096).AllocatorStat(U64(schema::kHasLayout, 0));
  EXPECT_TRUE(Read(contradiction.Serialize())->allocators[0].has_layout);
}

TEST(TraceReaderTest, AnAllocatorSaysOnWhichCudaDeviceItLies) {
  TraceBuilder trace;
  trace.Alloc(0x1000, {}).AllocatorStat(U64(schema::kCudaDevice, 2));
  EXPECT_EQ(Read(trace.Serialize())->allocators[0].cuda_device, 2);

  TraceBuilder damaged;
  damaged.Alloc(0x1000, {}).AllocatorStat(U64(schema::kCudaDevice, ~0ull));
  EXPECT_EQ(Read(damaged.Serialize())->allocators[0].cuda_device, -1);
}

TEST(TraceReaderTest, AShapeWithoutElementsIsAnotherTensors) {
  TraceBuilder trace;
  test::Ask ask;
  ask.shape = "[0]";
  ask.requested_bytes = 1024;
  trace.Alloc(0x1000, ask);
  const auto read = Read(trace.Serialize());
  const AllocatorTrace& allocator = read->allocators[0];
  EXPECT_EQ(read->ShapeOf(read->sites.Get(allocator.site[0])), "");
}

TEST(TraceReaderTest, LinesOfTheEpochAreMadeRelative) {
  PlaneBuilder plane("/oom_forensics:bfc#0");
  const int64_t free = plane.AddEventMetadata("free");
  plane.AddLine(
      {0, "events", kStartNs + 5, {{free, 1000, 0, {U64("address", 1)}}}});
  const auto trace = Read(SerializeSpace(
      {plane.Serialize(), test::TaskEnvironmentPlane(kStartNs, 0)}));
  EXPECT_EQ(trace->ToNs(trace->allocators[0].time_ps[0]), kStartNs + 6);
}

TEST(TraceReaderTest, EventsOutOfOrderAreSortedAndCounted) {
  TraceBuilder builder;
  builder.Alloc(0x1000, {});
  const int64_t free = builder.plane().AddEventMetadata("free");
  builder.Raw({free, 10, 0, {U64("address", 0x9000)}});
  builder.Fail({}, {});
  const auto trace = Read(builder.Serialize());
  const AllocatorTrace& allocator = trace->allocators[0];
  EXPECT_EQ(allocator.kind_of[0], RowKind::kFree);
  EXPECT_EQ(allocator.kind_of[1], RowKind::kAlloc);
  EXPECT_EQ(allocator.failures[0].row, 2u);
  EXPECT_EQ(allocator.quality.count(QualityCounter::kUnsortedEvents), 1u);
}

TEST(TraceReaderTest, HostileNumbersAreCountedAndLeftOut) {
  TraceBuilder builder;
  const auto max = std::numeric_limits<uint64_t>::max();
  builder.Alloc(max, {"wraps", "", 1, 256, 0});
  builder.Alloc(0x1000, {"huge", "", 1, max, 0});
  builder.Alloc(0, {"null", "", 1, 256, 0});
  builder.Region(0x1000, 0);
  const int64_t negative = builder.plane().AddEventMetadata(
      "alloc", "negative", {I64("requested_bytes", -1)});
  builder.Raw({negative, 9'000'000, 0, {U64("address", 0x2000)}});
  const int64_t nan = builder.plane().AddEventMetadata(
      "alloc", "nan", {Real("requested_bytes", std::nan(""))});
  builder.Raw({nan, 9'000'001, 0, {U64("address", 0x2000)}});
  const auto trace = Read(builder.Serialize());
  EXPECT_EQ(trace->allocators[0].row_count(), 0u);
  EXPECT_EQ(trace->allocators[0].quality.count(QualityCounter::kInvalidSize),
            6u);
}

TEST(TraceReaderTest, TimesBeyondReasonAreMovedAndCounted) {
  TraceBuilder builder;
  const int64_t free = builder.plane().AddEventMetadata("free");
  builder.Raw(
      {free, std::numeric_limits<int64_t>::max(), 0, {U64("address", 1)}});
  builder.Raw(
      {free, std::numeric_limits<int64_t>::min(), 0, {U64("address", 1)}});
  const auto trace = Read(builder.Serialize());
  const AllocatorTrace& allocator = trace->allocators[0];
  ASSERT_EQ(allocator.row_count(), 2u);
  EXPECT_LT(allocator.time_ps[0], allocator.time_ps[1]);
  EXPECT_EQ(allocator.quality.count(QualityCounter::kTimeOutOfRange), 2u);
}

TEST(TraceReaderTest, UnknownEventsAndSitesAreCounted) {
  TraceBuilder builder;
  const int64_t odd = builder.plane().AddEventMetadata("from_the_future");
  builder.Raw({odd, 1, 0, {}});
  builder.Raw({4711, 2, 0, {}});
  builder.Raw({-1, 3, 0, {}});
  const auto trace = Read(builder.Serialize());
  const QualityLog& quality = trace->allocators[0].quality;
  EXPECT_EQ(quality.count(QualityCounter::kUnknownEventKind), 1u);
  EXPECT_EQ(quality.count(QualityCounter::kUnknownSite), 2u);
}

TEST(TraceReaderTest, TextThatIsNotUtf8IsMadeSo) {
  TraceBuilder builder;
  builder.Alloc(0x1000, {"bad\xff\xc0name", "", 1, 256, 0});
  const auto trace = Read(builder.Serialize());
  EXPECT_EQ(trace->OpOf(trace->sites.Get(trace->allocators[0].site[0])),
            "bad\xEF\xBF\xBD\xEF\xBF\xBDname");
}

TEST(TraceReaderTest, WhatWasLostIsSaid) {
  TraceBuilder builder;
  builder.Free(0x1)
      .AllocatorStat(U64(schema::kDroppedEvents, 12))
      .AllocatorStat(U64(schema::kBaselineComplete, 0))
      .SessionStat(Real(schema::kSamplingRate, 0.5))
      .SessionStat(U64(schema::kVersion, 99));
  const auto trace = Read(builder.Serialize());
  EXPECT_EQ(trace->allocators[0].quality.count(QualityCounter::kDroppedEvents),
            12u);
  EXPECT_EQ(
      trace->allocators[0].quality.count(QualityCounter::kIncompleteBaseline),
      1u);
  EXPECT_EQ(trace->quality.count(QualityCounter::kSampled), 1u);
  EXPECT_EQ(trace->quality.count(QualityCounter::kNewerSchema), 1u);
}

TEST(TraceReaderTest, StepsComeFromAnyTraceMeWithAStepNumber) {
  TraceBuilder builder;
  builder.Step(3).Free(1).Free(2).Step(4).Free(3).EndStep().Free(4);
  const auto trace = Read(builder.Serialize());
  ASSERT_EQ(trace->steps.size(), 2u);
  const Column<int64_t>& times = trace->allocators[0].time_ps;
  EXPECT_EQ(trace->StepAt(times[0]), 3);
  EXPECT_EQ(trace->StepAt(times[1]), 3);
  EXPECT_EQ(trace->StepAt(times[2]), 4);
  EXPECT_EQ(trace->StepAt(times[3]), kUnknownStep);
}

// ---- Files that are not whole.

TEST(BrokenFileTest, AFileCutAnywhereNeverGivesAWholeAnswer) {
  TraceBuilder builder;
  builder.BaselineRegion(0x1000, 0x1000);
  for (int i = 0; i < 20; ++i) builder.Alloc(0x1000, {}).Free(0x1000);
  const std::string bytes = builder.Serialize();
  ReadOptions tolerant;
  tolerant.allow_truncated = true;
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    const auto strict = ReadTraceFromBytes(cut, "x.xplane.pb", ReadOptions());
    if (!strict.ok()) {
      ++refused;
      EXPECT_THAT(std::string(strict.status().message()),
                  HasSubstr("x.xplane.pb"));
    }
    const auto read = ReadTraceFromBytes(cut, "x.xplane.pb", tolerant);
    if (!strict.ok() && read.ok()) {
      EXPECT_EQ((*read)->quality.count(QualityCounter::kTruncatedFile), 1u);
    }
  }
  // Between two planes a file ends as a shorter, whole one would.
  EXPECT_GE(refused, static_cast<int>(bytes.size()) - 4);
}

TEST(StepPlaneTest, SaysWhyThereIsNoForecastUntilThereIsOne) {
  TraceBuilder builder;
  builder.Step("f", 7, "not made yet").Forecast("f", 7, 1024);
  builder.Step("f", 8, "not made yet");
  const auto trace =
      ReadTraceFromBytes(builder.Serialize(), "x.xplane.pb", ReadOptions());
  ASSERT_TRUE(trace.ok()) << trace.status();
  ASSERT_EQ((*trace)->forecasts.size(), 2u);
  EXPECT_EQ((*trace)->forecasts[0].step_id, 7);
  EXPECT_EQ((*trace)->forecasts[0].reason, "");
  EXPECT_EQ((*trace)->forecasts[1].step_id, 8);
  EXPECT_EQ((*trace)->forecasts[1].reason, "not made yet");
  EXPECT_EQ((*trace)->allocators.size(), 1u);
}

TEST(BrokenFileTest, WhatIsNoTraceIsRefused) {
  EXPECT_THAT(Error("this is a text, not a trace\n"),
              HasSubstr("is not a profiler trace"));
  EXPECT_THAT(Error(std::string(100, '\0')), HasSubstr("x.xplane.pb"));
  EXPECT_THAT(Error("\x1f\x8b\x08 and what gzip made of a trace"),
              HasSubstr("is packed by gzip"));
}

TEST(BrokenFileTest, DamageInsideAPlaneIsCounted) {
  TraceBuilder builder;
  builder.Alloc(0x1000, {}).Alloc(0x2000, {});
  std::string bytes = builder.Serialize();
  // An event's length (a byte after the tag of XLine.events) that is too long.
  const size_t event = bytes.find("\x22");
  ASSERT_NE(event, std::string::npos);
  bytes[event + 1] = '\x7f';
  const auto trace = ReadTraceFromBytes(bytes, "x.xplane.pb", ReadOptions());
  ASSERT_TRUE(trace.ok()) << trace.status();
  uint64_t damage = (*trace)->quality.count(QualityCounter::kMalformedMessages);
  for (const AllocatorTrace& allocator : (*trace)->allocators) {
    damage += allocator.quality.count(QualityCounter::kMalformedMessages);
  }
  EXPECT_GT(damage, 0u);
}

TEST(BrokenFileTest, ATraceThatIsTooLargeIsRefusedBeforeItIsRead) {
  TraceBuilder builder;
  for (int i = 0; i < 100; ++i) builder.Free(1);
  ReadOptions options;
  options.max_resident_bytes = 1000;
  EXPECT_THAT(Error(builder.Serialize(), options),
              HasSubstr("--max-memory-mb"));
}

}  // namespace
}  // namespace oom_forensics
