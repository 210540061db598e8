#include "collector/trace/trace_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "collector/testing/decoded_trace.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

const void* Address(uint64_t address) {
  return reinterpret_cast<const void*>(address);
}

class TraceWriterTest : public testing::Test {
 protected:
  SiteId MakeSite(std::string_view op, uint64_t allocated_bytes) {
    SiteKey key;
    key.op = op;
    key.shape = "[8,16]";
    key.region_type = "output";
    key.dtype = 1;
    key.requested_bytes = 500;
    key.allocated_bytes = allocated_bytes;
    return recorder_.sites().Intern(key)->id;
  }

  // Ends the recording and decodes its trace.
  std::map<std::string, DecodedPlane> Finish() {
    const auto recording = recorder_.StopCapture(CaptureOwner::kProfiler);
    AllocatorInfo info;
    info.name = "bfc";
    info.kind = "bfc";
    info.complete = true;
    info.limit_bytes = 1 << 30;
    AllocatorInfo other = info;
    other.id = 1;
    other.instance = 1;
    other.has_layout = false;
    other.limit_bytes = 0;
    SessionFacts session;
    session.origin = "profile";
    session.tensorflow_version = "2.21.0";
    session.hooks = "hooked";
    session.attribution = "on";
    return DecodeTrace(WriteTrace(session, {info, other}, *recording,
                                  recorder_.sites().Snapshot(),
                                  recorder_.stacks().Snapshot()));
  }

  Recorder recorder_{Settings{}};
};

TEST_F(TraceWriterTest, SaysWhatTheRecordingIs) {
  recorder_.StartCapture(CaptureOwner::kProfiler);
  auto planes = Finish();
  const Stats& session = planes["/oom_forensics:session"].stats;
  EXPECT_EQ(session[schema::kVersion], std::to_string(schema::kSchemaVersion));
  EXPECT_EQ(session[schema::kOrigin], "profile");
  EXPECT_EQ(session[schema::kTensorFlowVersion], "2.21.0");
  EXPECT_EQ(session[schema::kAttribution], "on");
  const Stats& allocator = planes["/oom_forensics:bfc#0"].stats;
  EXPECT_EQ(allocator[schema::kAllocatorName], "bfc");
  EXPECT_EQ(allocator[schema::kBaselineComplete], "1");
}

TEST_F(TraceWriterTest, WritesTheStacksThatSitesReferToOnce) {
  const StackId used =
      recorder_.stacks().Intern({{"/lib/ops.py", "add", 7, true},
                                 {"/home/me/train.py", "augment", 41, false}});
  recorder_.stacks().Intern({{"/home/me/other.py", "unused", 1, false}});
  recorder_.StartCapture(CaptureOwner::kProfiler);
  SiteKey key;
  key.stack = used;
  key.requested_bytes = key.allocated_bytes = 512;
  const SiteId site = recorder_.sites().Intern(key)->id;
  recorder_.RecordAlloc(0, Address(4096), site, 0, 9);
  recorder_.RecordAlloc(0, Address(8192), site, 0, 9);
  auto planes = Finish();
  Stats stats =
      planes["/oom_forensics:bfc#0"].lines["events"].events.at(0).site;
  EXPECT_EQ(stats[schema::kStack], std::to_string(used));
  std::string source;
  WriteSourcePlane({}, recorder_.stacks().Snapshot(), {used}, &source);
  EXPECT_NE(source.find("/home/me/train.py\x1f"
                        "41\x1f"
                        "augment"),
            std::string::npos);
  EXPECT_EQ(source.find("other.py"), std::string::npos);
}

TEST_F(TraceWriterTest, NoTextOfItKeepsAReaderFromParsingIt) {
  recorder_.StartCapture(CaptureOwner::kProfiler);
  const SiteId site = MakeSite(
      "gr\xF6\xDF"
      "e",
      512);
  recorder_.RecordAlloc(0, Address(4096), site, 0, 9);
  auto planes = Finish();
  Stats stats =
      planes["/oom_forensics:bfc#0"].lines["events"].events.at(0).site;
  EXPECT_EQ(stats[schema::kOp], "gr\uFFFD\uFFFDe");
}

TEST(SourcePlaneTest, PathsAreWrittenAsThePersonWants) {
  SourceFacts facts;
  facts.project_root = "/home/me/project";
  constexpr std::string_view kInside = "/home/me/project/data/augment.py";
  EXPECT_EQ(ShownPath(facts, kInside), kInside);
  facts.paths = "project";
  EXPECT_EQ(ShownPath(facts, kInside), "data/augment.py");
  EXPECT_EQ(ShownPath(facts, "/home/me/projects/train.py"), "train.py");
  EXPECT_EQ(ShownPath(facts, "<stdin>"), "<stdin>");
  facts.paths = "none";
  EXPECT_EQ(ShownPath(facts, kInside), "");
}

TEST_F(TraceWriterTest, SaysWhatThereWasNoRoomFor) {
  recorder_.StartCapture(CaptureOwner::kProfiler);
  const auto recording = recorder_.StopCapture(CaptureOwner::kProfiler);
  recording->totals[0].unlisted = 3;
  AllocatorInfo info;
  info.name = "bfc";
  info.complete = true;
  SessionFacts session;
  session.unnamed_allocations = 4;
  session.unknown_allocator_requests = 5;
  auto planes = DecodeTrace(WriteTrace(session, {info}, *recording,
                                       recorder_.sites().Snapshot(),
                                       recorder_.stacks().Snapshot()));
  const Stats& allocator = planes["/oom_forensics:bfc#0"].stats;
  EXPECT_EQ(allocator[schema::kUnlistedAllocations], "3");
  EXPECT_EQ(allocator[schema::kBaselineComplete], "0");
  const Stats& facts = planes["/oom_forensics:session"].stats;
  EXPECT_EQ(facts[schema::kUnnamedAllocations], "4");
  EXPECT_EQ(facts[schema::kUnknownAllocatorRequests], "5");
}

TEST_F(TraceWriterTest, SaysTheLimitWhetherOrNotARequestFailed) {
  recorder_.StartCapture(CaptureOwner::kProfiler);
  auto planes = Finish();
  const Stats& limited = planes["/oom_forensics:bfc#0"].stats;
  EXPECT_EQ(limited[schema::kBytesLimit], std::to_string(1 << 30));
  const Stats& unlimited = planes["/oom_forensics:bfc#1"].stats;
  EXPECT_EQ(unlimited[schema::kBytesLimit], "(none)");
}

TEST_F(TraceWriterTest, SaysWhichAllocatorDividesNoMemory) {
  recorder_.StartCapture(CaptureOwner::kProfiler);
  auto planes = Finish();
  const Stats& pool = planes["/oom_forensics:bfc#0"].stats;
  EXPECT_EQ(pool[schema::kHasLayout], "(none)");
  const Stats& direct = planes["/oom_forensics:bfc#1"].stats;
  EXPECT_EQ(direct[schema::kHasLayout], "0");
}

TEST_F(TraceWriterTest, WritesWhatWasLiveAsBaseline) {
  const SiteId site = MakeSite("dense/MatMul", 512);
  recorder_.RecordRegion(RecordedKind::kRegionAdd, 0, Address(1 << 20), 1 << 20,
                         9);
  recorder_.RecordAlloc(0, Address(1 << 20), site, 42, 9);
  recorder_.StartCapture(CaptureOwner::kProfiler);
  auto planes = Finish();
  const auto& events = planes["/oom_forensics:bfc#0"].lines["baseline"].events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, schema::kRegionAdd);
  EXPECT_EQ(events[0].offset_ps, 0);
  EXPECT_EQ(events[0].stats[schema::kAddress], std::to_string(1 << 20));
  EXPECT_EQ(events[0].stats[schema::kSizeBytes], std::to_string(1 << 20));
  EXPECT_EQ(events[1].kind, schema::kAlloc);
  EXPECT_EQ(events[1].offset_ps, 1);
  EXPECT_EQ(events[1].site[schema::kOp], "dense/MatMul");
  EXPECT_EQ(events[1].site[schema::kShape], "[8,16]");
  EXPECT_EQ(events[1].site[schema::kDtype], "1");
  EXPECT_EQ(events[1].site[schema::kRequestedBytes], "500");
  EXPECT_EQ(events[1].site[schema::kAllocatedBytes], "512");
  EXPECT_EQ(events[1].stats[schema::kStepId], "42");
  EXPECT_EQ(events[1].stats[schema::kThread], "9");
  EXPECT_NE(events[1].stats[schema::kAgeNs], "(none)");
  EXPECT_TRUE(planes["/oom_forensics:bfc#0"].lines["events"].events.empty());
}

TEST_F(TraceWriterTest, WritesEventsInOrderWithWhatChanged) {
  const SiteId site = MakeSite("dense/MatMul", 512);
  recorder_.StartCapture(CaptureOwner::kProfiler);
  recorder_.RecordAlloc(0, Address(4096), site, 42, 9);
  recorder_.RecordAlloc(0, Address(8192), site, 42, 9);
  recorder_.RecordFree(0, Address(4096), 10);
  recorder_.RecordRegion(RecordedKind::kRegionRemove, 0, Address(4096), 256,
                         10);
  auto planes = Finish();
  const auto& events = planes["/oom_forensics:bfc#0"].lines["events"].events;
  ASSERT_EQ(events.size(), 4u);
  int64_t last = 0;
  for (const DecodedEvent& event : events) {
    EXPECT_GT(event.offset_ps, last);
    last = event.offset_ps;
  }
  EXPECT_EQ(events[0].stats[schema::kStepId], "42");
  EXPECT_EQ(events[1].stats[schema::kStepId], "(none)");
  EXPECT_EQ(events[1].stats[schema::kThread], "(none)");
  EXPECT_EQ(events[2].kind, schema::kFree);
  EXPECT_EQ(events[2].stats[schema::kAddress], "4096");
  EXPECT_EQ(events[2].stats[schema::kThread], "10");
  EXPECT_EQ(events[3].kind, schema::kRegionRemove);
  EXPECT_EQ(events[3].stats[schema::kSizeBytes], "256");
  const Stats& facts = planes["/oom_forensics:bfc#0"].stats;
  EXPECT_EQ(facts[schema::kTotalAllocs], "2");
  EXPECT_EQ(facts[schema::kTotalFrees], "1");
}

TEST_F(TraceWriterTest, PutsEachAllocatorOnItsOwnPlane) {
  const SiteId site = MakeSite("dense/MatMul", 512);
  recorder_.StartCapture(CaptureOwner::kProfiler);
  recorder_.RecordAlloc(0, Address(4096), site, 0, 9);
  recorder_.RecordAlloc(1, Address(8192), site, 0, 9);
  auto planes = Finish();
  const auto& first = planes["/oom_forensics:bfc#0"].lines["events"].events;
  const auto& second = planes["/oom_forensics:bfc#1"].lines["events"].events;
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(first[0].stats[schema::kAddress], "4096");
  EXPECT_EQ(second[0].stats[schema::kAddress], "8192");
}

TEST_F(TraceWriterTest, PutsTrainingStepsOnTheFirstPlane) {
  recorder_.RecordStep(41, 9);
  recorder_.StartCapture(CaptureOwner::kProfiler);
  recorder_.RecordStep(42, 9);
  recorder_.RecordStep(kNoStep, 9);
  auto planes = Finish();
  auto& first = planes["/oom_forensics:bfc#0"].lines;
  ASSERT_EQ(first["baseline"].events.size(), 1u);
  EXPECT_EQ(first["baseline"].events[0].kind, schema::kStepBegin);
  EXPECT_EQ(first["baseline"].events[0].stats[schema::kStep], "41");
  ASSERT_EQ(first["events"].events.size(), 2u);
  EXPECT_EQ(first["events"].events[0].kind, schema::kStepBegin);
  EXPECT_EQ(first["events"].events[0].stats[schema::kStep], "42");
  EXPECT_EQ(first["events"].events[1].stats[schema::kStep], "-1");
  EXPECT_TRUE(planes["/oom_forensics:bfc#1"].lines["events"].events.empty());
}

TEST_F(TraceWriterTest, TellsEagerOpsFromNodesOfGraphs) {
  SiteKey key;
  key.op = "AddV2";
  const SiteId unknown = recorder_.sites().Intern(key)->id;
  key.mode = ExecutionMode::kEager;
  const SiteId eager = recorder_.sites().Intern(key)->id;
  key.mode = ExecutionMode::kGraph;
  const SiteId graph = recorder_.sites().Intern(key)->id;
  recorder_.StartCapture(CaptureOwner::kProfiler);
  recorder_.RecordAlloc(0, Address(4096), unknown, 0, 9);
  recorder_.RecordAlloc(0, Address(8192), eager, -7'000'000'000, 9);
  recorder_.RecordAlloc(0, Address(12288), graph, 42, 9);
  auto planes = Finish();
  const auto& events = planes["/oom_forensics:bfc#0"].lines["events"].events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].site[schema::kEager], "(none)");
  EXPECT_EQ(events[1].site[schema::kEager], "1");
  // A run of its own; its id says nothing.
  EXPECT_EQ(events[1].stats[schema::kStepId], "(none)");
  EXPECT_EQ(events[2].site[schema::kEager], "0");
  EXPECT_EQ(events[2].stats[schema::kStepId], "42");
}

TEST_F(TraceWriterTest, SaysAllThatIsKnownOfAFailure) {
  const SiteId site = MakeSite("dense/MatMul", 0);
  recorder_.StartCapture(CaptureOwner::kProfiler);
  Failure failure;
  failure.sequence = recorder_.RecordFailure(0, site, 42, 9);
  failure.waited_ns = 10'000;
  failure.statistics = AllocatorStatistics{5, 1000, 2000, 700, 4096};
  failure.reserved_bytes = 3000;
  failure.largest_free_bytes = 400;
  failure.memory_dump = "the chunk map";
  recorder_.failures().Add(failure);
  auto planes = Finish();
  const auto& events = planes["/oom_forensics:bfc#0"].lines["events"].events;
  ASSERT_EQ(events.size(), 1u);
  const DecodedEvent& event = events[0];
  EXPECT_EQ(event.kind, schema::kFailed);
  EXPECT_EQ(event.duration_ps, 10'000'000);
  EXPECT_EQ(event.site[schema::kRequestedBytes], "500");
  EXPECT_EQ(event.site[schema::kAllocatedBytes], "(none)");
  EXPECT_EQ(event.stats[schema::kRetryOnFailure], "1");
  EXPECT_EQ(event.stats[schema::kNumAllocs], "5");
  EXPECT_EQ(event.stats[schema::kBytesInUse], "1000");
  EXPECT_EQ(event.stats[schema::kPeakBytesInUse], "2000");
  EXPECT_EQ(event.stats[schema::kBytesLimit], "4096");
  EXPECT_EQ(event.stats[schema::kBytesReserved], "3000");
  EXPECT_EQ(event.stats[schema::kLargestFreeBytes], "400");
  EXPECT_EQ(event.stats[schema::kMemoryDump], "the chunk map");
}

// What a training step costs in the trace, names aside.
TEST_F(TraceWriterTest, NeedsAtMostSixtyBytesForAnAllocationAndItsFree) {
  constexpr uint64_t kPairs = 10'000;
  const SiteId site = MakeSite("dense/MatMul", 512);
  recorder_.StartCapture(CaptureOwner::kProfiler);
  for (uint64_t i = 0; i < kPairs; ++i) {
    const void* address = Address(0x7f3a'0000'0000 + (i % 100) * 512);
    recorder_.RecordAlloc(0, address, site, 42, 9);
    recorder_.RecordFree(0, address, 9);
  }
  const auto recording = recorder_.StopCapture(CaptureOwner::kProfiler);
  const std::string trace =
      WriteTrace({}, {AllocatorInfo()}, *recording,
                 recorder_.sites().Snapshot(), recorder_.stacks().Snapshot());
  EXPECT_LE(trace.size() / kPairs, 60u);
}

}  // namespace
}  // namespace oom_forensics::collector
