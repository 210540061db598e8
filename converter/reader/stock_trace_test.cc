// Traces that TensorFlow's profiler wrote by itself: MemoryAllocation and
// MemoryDeallocation of /host:CPU.
#include <memory>
#include <string>
#include <vector>

#include "converter/reader/trace_reader.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::Event;
using test::FieldOrder;
using test::I64;
using test::kStartNs;
using test::PlaneBuilder;
using test::Ref;
using test::SerializeSpace;
using test::U64;

std::unique_ptr<const HostTrace> Read(const std::string& bytes) {
  auto trace = ReadTraceFromBytes(bytes, "host0.xplane.pb", ReadOptions());
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : nullptr;
}

Event StockEvent(int64_t metadata_id, int64_t offset_ps, int64_t address,
                 int64_t bytes, int64_t in_use) {
  return {
      metadata_id,
      offset_ps,
      0,
      {Ref("allocator_name", "GPU_0_bfc"), I64("bytes_reserved", 0),
       I64("bytes_allocated", in_use), I64("bytes_available", 10000 - in_use),
       I64("requested_bytes", bytes), I64("allocation_bytes", bytes),
       I64("addr", address), Ref("tf_op", "Relu"), I64("data_type", 1)}};
}

std::string StockSpace() {
  PlaneBuilder plane("/host:CPU");
  const int64_t alloc = plane.AddEventMetadata("MemoryAllocation");
  const int64_t free = plane.AddEventMetadata("MemoryDeallocation");
  // Two threads; 1280 bytes are in use before the first event, of which the
  // chunk at 0x5000 is freed later.
  plane.AddLine({11,
                 "t1",
                 0,
                 {StockEvent(alloc, 1000, 0x1000, 256, 1536),
                  StockEvent(free, 3000, 0x5000, 768, 1280)}});
  plane.AddLine({12, "t2", 0, {StockEvent(alloc, 2000, 0x2000, 512, 2048)}});
  return SerializeSpace(
      {plane.Serialize(), test::TaskEnvironmentPlane(kStartNs, 0)});
}

TEST(StockTraceTest, EventsOfAllThreadsAreOneAllocator) {
  const auto trace = Read(StockSpace());
  ASSERT_EQ(trace->allocators.size(), 1u);
  const AllocatorTrace& allocator = trace->allocators[0];
  EXPECT_EQ(allocator.name, "GPU_0_bfc");
  EXPECT_EQ(allocator.source, Source::STOCK_TRACE);
  EXPECT_EQ(allocator.limit_bytes, 10000u);
  ASSERT_EQ(allocator.row_count(), 4u);
  EXPECT_EQ(allocator.address[1], 0x1000u);
  EXPECT_EQ(allocator.address[2], 0x2000u);
  EXPECT_EQ(allocator.ContextOf(2).thread, 12u);
}

TEST(StockTraceTest, CallsOfPythonTellWhoAskedForMemory) {
  PlaneBuilder plane("/host:CPU");
  const int64_t alloc = plane.AddEventMetadata("MemoryAllocation");
  const int64_t train = plane.AddEventMetadata("$train.py:16 train");
  const int64_t augment = plane.AddEventMetadata("$train.py:5 augment");
  const int64_t entrance =
      plane.AddEventMetadata("$traceback_utils.py:138 error_handler");
  const int64_t uniform =
      plane.AddEventMetadata("$random_ops.py:211 random_uniform");
  const int64_t builtin = plane.AddEventMetadata("$builtins getattr");
  plane.AddLine({11,
                 "python",
                 0,
                 {{train, 100, 800, {}},
                  {augment, 200, 300, {}},
                  {entrance, 300, 150, {}},
                  {builtin, 310, 5, {}},
                  {uniform, 320, 100, {}},
                  StockEvent(alloc, 350, 0x1000, 256, 256),
                  StockEvent(alloc, 600, 0x2000, 256, 512),
                  StockEvent(alloc, 950, 0x3000, 256, 768)}});
  // A thread that runs no Python.
  plane.AddLine({12, "pool", 0, {StockEvent(alloc, 960, 0x4000, 256, 1024)}});
  const auto trace = Read(SerializeSpace({plane.Serialize()}));
  ASSERT_EQ(trace->allocators.size(), 1u);
  const AllocatorTrace& allocator = trace->allocators[0];
  ASSERT_EQ(allocator.row_count(), 4u);
  const auto stack_of = [&](Row row) {
    return trace->source.StackAt(trace->sites.Get(allocator.site[row]).stack);
  };
  const auto line_of = [&](Row row) {
    const CodeLine& line = trace->source.LineAt(stack_of(row).user_line);
    return trace->strings.Get(line.file) + ":" + std::to_string(line.line) +
           " " + trace->strings.Get(line.function);
  };
  EXPECT_EQ(line_of(0), "train.py:5 augment") << "not what it called";
  EXPECT_EQ(stack_of(0).frames.size(), 4u);
  EXPECT_EQ(line_of(1), "train.py:16 train");
  EXPECT_EQ(stack_of(2).user_line, kNoLine) << "all calls have ended";
  EXPECT_EQ(stack_of(3).user_line, kNoLine);
}

TEST(StockTraceTest, ALineMayBeExplainedBehindItsEvents) {
  PlaneBuilder plane("/host:CPU");
  const int64_t alloc = plane.AddEventMetadata("MemoryAllocation");
  plane.AddLine({11, "t1", 7, {StockEvent(alloc, 1000, 0x1000, 256, 256)}});
  plane.AddLine({12, "t2", 8, {StockEvent(alloc, 1000, 0x2000, 256, 512)}});
  const auto trace =
      Read(SerializeSpace({plane.Serialize(FieldOrder::kReversed)}));
  ASSERT_EQ(trace->allocators.size(), 1u);
  const AllocatorTrace& allocator = trace->allocators[0];
  ASSERT_EQ(allocator.row_count(), 2u);
  EXPECT_EQ(allocator.time_ps[0], 8000);
  EXPECT_EQ(allocator.ContextOf(0).thread, 11u);
  EXPECT_EQ(allocator.time_ps[1], 9000);
  EXPECT_EQ(allocator.ContextOf(1).thread, 12u);
}

TEST(StockTraceTest, EventsOfNoInterestArePassedOver) {
  // Many names: their numbers take one, two and three bytes.
  PlaneBuilder plane("/host:CPU");
  const int64_t other = plane.AddEventMetadata("ExecutorState::Process");
  std::vector<Event> events;
  for (int64_t i = 0; i < 20'000; ++i) {
    events.push_back({other, i, 1, {I64("stat_" + std::to_string(i), i)}});
  }
  events.push_back({other, 30'000, 5'000, {I64("step_num", 7)}});
  const int64_t alloc = plane.AddEventMetadata("MemoryAllocation");
  events.push_back(StockEvent(alloc, 31'000, 0x1000, 256, 256));
  events.push_back({alloc, 32'000, 0, {}});
  plane.AddLine({11, "t1", 0, events});
  const auto trace = Read(SerializeSpace({plane.Serialize()}));
  ASSERT_EQ(trace->steps.size(), 1u);
  EXPECT_EQ(trace->steps[0].number, 7);
  EXPECT_EQ(trace->steps[0].begin_ps, 30'000);
  ASSERT_EQ(trace->allocators.size(), 1u);
  EXPECT_EQ(trace->allocators[0].row_count(), 1u);
  EXPECT_EQ(trace->quality.count(QualityCounter::kMalformedMessages), 0u);
}

TEST(StockTraceTest, ThreadsReadALongLineAsOneDoes) {
#ifdef __wasm__
  GTEST_SKIP() << "a module has one thread";
#endif
  PlaneBuilder plane("/host:CPU");
  const int64_t alloc = plane.AddEventMetadata("MemoryAllocation");
  const int64_t free = plane.AddEventMetadata("MemoryDeallocation");
  const int64_t train = plane.AddEventMetadata("train");
  std::vector<Event> events;
  for (int64_t i = 0; i < 30'000; ++i) {
    const int64_t address = 0x1000 + i % 100 * 256;
    events.push_back(StockEvent(alloc, 4 * i, address, 256, 256));
    events.push_back({train, 4 * i + 1, 1, {I64("step_num", i)}});
    events.push_back(StockEvent(free, 4 * i + 2, address, 256, 0));
  }
  plane.AddLine({11, "t1", 5, events});
  const std::string bytes = SerializeSpace({plane.Serialize()});
  ASSERT_GT(bytes.size(), 3u << 20) << "the line is cut into pieces";
  const auto read = [&bytes](uint32_t threads) {
    ReadOptions options;
    options.threads = threads;
    return *ReadTraceFromBytes(bytes, "host0.xplane.pb", options);
  };
  const auto one = read(0);
  const auto many = read(3);
  ASSERT_EQ(one->allocators.size(), 1u);
  ASSERT_EQ(many->allocators.size(), 1u);
  EXPECT_EQ(one->allocators[0].row_count(), 60'000u);
  EXPECT_EQ(many->allocators[0].time_ps, one->allocators[0].time_ps);
  EXPECT_EQ(many->allocators[0].address, one->allocators[0].address);
  EXPECT_EQ(many->allocators[0].site, one->allocators[0].site);
  EXPECT_EQ(many->allocators[0].kind_of, one->allocators[0].kind_of);
  EXPECT_EQ(many->steps.size(), one->steps.size());
  EXPECT_EQ(many->allocators[0].ContextOf(0).thread, 11u);
}

TEST(StockTraceTest, AChunkWhoseAllocationIsNotSeenIsInTheBaseline) {
  const auto trace = Read(StockSpace());
  const AllocatorTrace& allocator = trace->allocators[0];
  EXPECT_EQ(allocator.baseline_rows, 1u);
  EXPECT_EQ(allocator.address[0], 0x5000u);
  EXPECT_EQ(allocator.unnamed_in_use_bytes, 1280u - 768)
      << "what is in use beyond the baseline has no name";
  EXPECT_EQ(allocator.quality.count(QualityCounter::kUnnamedBaseline), 512u);
  EXPECT_EQ(allocator.quality.count(QualityCounter::kInUseDrift), 0u);
}

TEST(StockTraceTest, WhatSuchATraceCannotTellIsSaid) {
  const auto trace = Read(StockSpace());
  EXPECT_EQ(trace->quality.count(QualityCounter::kNoCollector), 1u);
  EXPECT_EQ(trace->allocators[0].quality.count(QualityCounter::kNoEventOfOom),
            1u);
}

TEST(StockTraceTest, EventsWithoutAddressesAreCountedAndNoMore) {
  PlaneBuilder plane("/host:CPU");
  const int64_t alloc = plane.AddEventMetadata("MemoryAllocation");
  plane.AddLine({11, "t1", 0, {StockEvent(alloc, 1000, 0, 256, 1536)}});
  const auto trace = Read(SerializeSpace({plane.Serialize()}));
  ASSERT_EQ(trace->allocators.size(), 1u);
  const AllocatorTrace& allocator = trace->allocators[0];
  EXPECT_EQ(allocator.row_count(), 0u);
  EXPECT_EQ(allocator.quality.count(QualityCounter::kNoAddresses), 1u);
}

TEST(StockTraceTest, AnAllocatorOfTheCollectorIsNotReadTwice) {
  PlaneBuilder ours("/oom_forensics:GPU_0_bfc#0");
  const int64_t free = ours.AddEventMetadata("free");
  ours.AddLine({0, "events", 0, {{free, 1, 0, {U64("address", 1)}}}});
  const auto trace = Read(StockSpace() + SerializeSpace({ours.Serialize()}));
  ASSERT_EQ(trace->allocators.size(), 1u);
  EXPECT_EQ(trace->allocators[0].source, Source::COLLECTOR);
}

}  // namespace
}  // namespace oom_forensics
