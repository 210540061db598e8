// TensorFlow's own GPU traces, in the form that its cupti_collector.cc writes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "converter/reader/trace_reader.h"
#include "converter/testing/xspace_builder.h"

namespace oom_forensics {
namespace {

using test::I64;
using test::PlaneBuilder;
using test::Ref;

constexpr int64_t kNs = 1000;

std::string Calls() {
  PlaneBuilder plane("/host:CUPTI");
  const int64_t alloc = plane.AddEventMetadata("cuMemAlloc_v2");
  const int64_t free = plane.AddEventMetadata("cuMemFree_v2");
  test::Line line;
  line.events.push_back(
      {alloc,
       10 * kNs,
       kNs,
       {I64("device_id", 1),
        Ref("memalloc_details", "kind:device num_bytes:4096")}});
  line.events.push_back({free,
                         20 * kNs,
                         kNs,
                         {I64("device_id", 1),
                          Ref("MemFree_details", "kind:device num_bytes:0")}});
  plane.AddLine(line);
  return plane.Serialize();
}

std::string Residency(std::string_view details, int64_t duration_ps) {
  PlaneBuilder plane("/device:GPU:1");
  const int64_t memory = plane.AddEventMetadata("Memory device");
  test::Line line;
  line.events.push_back({memory,
                         10 * kNs,
                         duration_ps,
                         {Ref("MemoryResidency_details", details)}});
  plane.AddLine(line);
  return plane.Serialize();
}

std::unique_ptr<const HostTrace> Read(const std::vector<std::string>& planes) {
  auto trace = ReadTraceFromBytes(test::SerializeSpace(planes),
                                  "host0.xplane.pb", ReadOptions());
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : nullptr;
}

TEST(StockDeviceReaderTest, CountsDriverCallsWithoutAddresses) {
  const auto trace = Read({Calls()});
  ASSERT_EQ(trace->devices.size(), 1u);
  const DeviceTrace& device = trace->devices[0];
  EXPECT_EQ(device.name, "cupti:1");
  EXPECT_EQ(device.mode, "stock");
  EXPECT_EQ(device.source, Source::STOCK_TRACE);
  ASSERT_EQ(device.events.size(), 2u);
  EXPECT_EQ(device.events[0].kind, DeviceEventKind::kAlloc);
  EXPECT_EQ(device.events[0].size_bytes, 4096u);
  EXPECT_EQ(device.events[0].address, 0u);
  EXPECT_EQ(trace->strings.Get(device.events[0].memory_kind), "device");
  EXPECT_EQ(device.events[1].kind, DeviceEventKind::kFree);
}

TEST(StockDeviceReaderTest, ReadsALifetimeAsAllocationAndFree) {
  const auto trace = Read({Residency(
      "kind:managed num_bytes:8192 addr:0x00007f0000001000", 50 * kNs)});
  ASSERT_EQ(trace->devices.size(), 1u);
  const std::vector<DeviceEvent>& events = trace->devices[0].events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].address, 0x7f0000001000u);
  EXPECT_EQ(events[0].size_bytes, 8192u);
  EXPECT_EQ(events[1].kind, DeviceEventKind::kFree);
  EXPECT_EQ(events[1].time_ps - events[0].time_ps, 50 * kNs);
}

TEST(StockDeviceReaderTest, ABlockThatWasNeverFreedStaysLive) {
  const auto trace =
      Read({Residency("kind:device num_bytes:8192 addr:0x1000", kNs)});
  ASSERT_EQ(trace->devices.size(), 1u);
  ASSERT_EQ(trace->devices[0].events.size(), 1u);
  EXPECT_EQ(trace->devices[0].events[0].kind, DeviceEventKind::kAlloc);
}

TEST(StockDeviceReaderTest, PrefersResidencyToCalls) {
  const auto trace =
      Read({Calls(), Residency("kind:device num_bytes:4096 addr:0x1000", kNs)});
  ASSERT_EQ(trace->devices.size(), 1u);
  ASSERT_EQ(trace->devices[0].events.size(), 1u);
  EXPECT_EQ(trace->devices[0].events[0].address, 0x1000u);
}

TEST(StockDeviceReaderTest, DamagedDetailsAreZero) {
  const auto trace =
      Read({Residency("kind num_bytes:many addr:0xZZ", 50 * kNs)});
  ASSERT_EQ(trace->devices.size(), 1u);
  EXPECT_EQ(trace->devices[0].events[0].size_bytes, 0u);
  EXPECT_EQ(trace->devices[0].events[0].address, 0u);
}

TEST(StockDeviceReaderTest, ATraceWithoutMemoryEventsHasNoDevice) {
  PlaneBuilder plane("/device:GPU:0");
  EXPECT_TRUE(Read({plane.Serialize()})->devices.empty());
}

}  // namespace
}  // namespace oom_forensics
