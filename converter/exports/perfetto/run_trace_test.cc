// What is too much to draw is cut; tests/exports/perfetto_test.py reads whole
// traces by Perfetto's own protos.
#include "converter/exports/perfetto/run_trace.h"

#include <algorithm>
#include <map>
#include <protozero/pbf_message.hpp>
#include <string>
#include <vector>

#include "converter/exports/perfetto/trace_packet.h"
#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using perfetto::Trace;
using perfetto::TracePacket;
using perfetto::TrackDescriptor;
using perfetto::TrackEvent;
using test::TraceBuilder;

struct ReadTrack {
  std::string description;
  std::vector<int64_t> values;
};

// The tracks by name.
std::map<std::string, ReadTrack> TracksOf(const std::string& bytes) {
  std::map<uint64_t, std::string> names;
  std::map<std::string, ReadTrack> tracks;
  protozero::pbf_message<Trace> trace(bytes);
  while (trace.next(Trace::kPacket)) {
    protozero::pbf_message<TracePacket> packet(trace.get_message());
    while (packet.next()) {
      if (packet.tag() == TracePacket::kTrackDescriptor) {
        protozero::pbf_message<TrackDescriptor> track(packet.get_message());
        uint64_t uuid = 0;
        ReadTrack read;
        while (track.next()) {
          if (track.tag() == TrackDescriptor::kUuid) {
            uuid = track.get_uint64();
          } else if (track.tag() == TrackDescriptor::kName) {
            names[uuid] = track.get_string();
          } else if (track.tag() == TrackDescriptor::kDescription) {
            read.description = track.get_string();
          } else {
            track.skip();
          }
        }
        tracks[names[uuid]] = read;
      } else if (packet.tag() == TracePacket::kTrackEvent) {
        protozero::pbf_message<TrackEvent> event(packet.get_message());
        uint64_t uuid = 0;
        while (event.next()) {
          if (event.tag() == TrackEvent::kTrackUuid) {
            uuid = event.get_uint64();
          } else if (event.tag() == TrackEvent::kCounterValue) {
            tracks[names[uuid]].values.push_back(event.get_int64());
          } else {
            event.skip();
          }
        }
      } else {
        packet.skip();
      }
    }
  }
  return tracks;
}

TEST(PerfettoTrace, KeepsTheAllocationsOfMostBytesTimesTime) {
  TraceBuilder trace;
  trace.Alloc(0x100000, {"long_and_small", "", 1, 256, 0});
  trace.Alloc(0x200000, {"short_and_large", "", 1, 1 << 20, 0});
  trace.Alloc(0x400000, {"short_and_small", "", 1, 256, 0});
  trace.Free(0x400000).Free(0x200000);
  trace.Wait(1'000'000'000).Free(0x100000);
  const auto bytes =
      ExportPerfettoTrace(*trace.Open(), Query(), {50000, /*allocations=*/2});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_NE(bytes->find("Allocations (2 of 3, "), std::string::npos);
  EXPECT_NE(bytes->find("long_and_small"), std::string::npos);
  EXPECT_NE(bytes->find("short_and_large"), std::string::npos);
  EXPECT_EQ(bytes->find("short_and_small"), std::string::npos);
}

TEST(PerfettoTrace, ThinsCountersWithoutLosingTheirPeak) {
  TraceBuilder trace;
  for (int i = 0; i < 500; ++i) {
    // One spike among equal pairs.
    const uint64_t bytes = i == 321 ? 1 << 20 : 256;
    trace.Alloc(0x100000, {"op", "", 1, bytes, 0}).Free(0x100000);
  }
  const auto run = trace.Open();
  const auto bytes =
      ExportPerfettoTrace(*run, Query(), {/*counter_stretches=*/10, 20000});
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const ReadTrack in_use = TracksOf(*bytes)["In use"];
  EXPECT_LE(in_use.values.size(), 31u);
  EXPECT_EQ(*std::max_element(in_use.values.begin(), in_use.values.end()),
            1 << 20);
  EXPECT_EQ(*std::min_element(in_use.values.begin(), in_use.values.end()), 0);
  EXPECT_NE(in_use.description.find("Of every 101 events the first, lowest"),
            std::string::npos)
      << in_use.description;
}

TEST(PerfettoTrace, HasEveryChangeOfAShortTrace) {
  TraceBuilder trace;
  trace.Alloc(0x100000, {"op", "", 1, 256, 0});
  trace.Alloc(0x200000, {"op", "", 1, 512, 0});
  trace.Free(0x100000);
  const auto bytes = ExportPerfettoTrace(*trace.Open(), Query());
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const std::vector<int64_t> expected = {0, 256, 768, 512};
  EXPECT_EQ(TracksOf(*bytes)["In use"].values, expected);
}

TEST(PerfettoTrace, IsRefusedForAHostThatIsNotThere) {
  TraceBuilder trace;
  Query query;
  query.mutable_filter()->set_host("elsewhere");
  EXPECT_FALSE(ExportPerfettoTrace(*trace.Open(), query).ok());
}

}  // namespace
}  // namespace oom_forensics
