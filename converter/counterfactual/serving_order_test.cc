#include "converter/counterfactual/serving_order.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "converter/bfc/bfc_model.h"
#include "converter/run/run.h"
#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Ask;
using test::TraceBuilder;

constexpr uint64_t kBase = uint64_t{1} << 32;

Ask Bytes(uint64_t bytes, uint64_t allocated_bytes = 0) {
  return {"op", "", 1, bytes, allocated_bytes, std::nullopt};
}

ServingOrder OrderOf(TraceBuilder& trace) {
  const std::unique_ptr<Run> run = trace.Open();
  const SharedHost host = run->Load(0);
  const AllocatorReplay& replay = *host->allocators()[0];
  return FindServingOrder(replay, 0, replay.trace().row_count());
}

TEST(ServingOrderTest, OneThreadIsServedInTheOrderOfItsRows) {
  TraceBuilder trace;
  trace.Region(kBase, 4096);
  trace.Alloc(kBase, Bytes(256));
  trace.Alloc(kBase + 256, Bytes(256));
  trace.Free(kBase);
  trace.Alloc(kBase, Bytes(256));
  const ServingOrder order = OrderOf(trace);
  EXPECT_EQ(order.rows, (std::vector<Row>{0, 1, 2, 3, 4}));
  EXPECT_EQ(order.requests, 3u);
  EXPECT_TRUE(order.explains_all());
  EXPECT_EQ(order.reordered, 0u);
}

TEST(ServingOrderTest, TwoAllocationsThatWereRecordedTheOtherWayRound) {
  TraceBuilder trace;
  trace.Region(kBase, 4096);
  trace.Thread(1).Alloc(kBase + 256, Bytes(512));
  trace.Thread(2).Alloc(kBase, Bytes(256));
  const ServingOrder order = OrderOf(trace);
  EXPECT_EQ(order.rows, (std::vector<Row>{0, 2, 1}));
  EXPECT_TRUE(order.explains_all());
  EXPECT_EQ(order.reordered, 1u);
}

TEST(ServingOrderTest, AReleaseThatTookPlaceAfterTheAllocationBehindIt) {
  TraceBuilder trace;
  trace.Region(kBase, 4096);
  trace.Thread(1).Alloc(kBase, Bytes(256));
  trace.Thread(1).Alloc(kBase + 256, Bytes(256));
  trace.Thread(1).Free(kBase);
  trace.Thread(2).Alloc(kBase + 512, Bytes(256));
  const ServingOrder order = OrderOf(trace);
  EXPECT_EQ(order.rows, (std::vector<Row>{0, 1, 2, 4, 3}));
  EXPECT_TRUE(order.explains_all());
}

TEST(ServingOrderTest, AThreadsOwnOrderIsKept) {
  TraceBuilder trace;
  trace.Region(kBase, 4096);
  trace.Thread(1).Alloc(kBase + 256, Bytes(512));
  trace.Thread(1).Alloc(kBase, Bytes(256));
  const ServingOrder order = OrderOf(trace);
  EXPECT_EQ(order.rows, (std::vector<Row>{0, 1, 2}));
  EXPECT_EQ(order.requests, 2u);
  EXPECT_EQ(order.alike, 1u);
}

TEST(ServingOrderTest, WhatCannotBeExplainedDoesNotSpoilWhatFollows) {
  TraceBuilder trace;
  trace.Region(kBase, 1 << 20);
  trace.Alloc(kBase + 8192, Bytes(256));
  for (uint64_t i = 0; i < 20; ++i) {
    trace.Alloc(kBase + i * 256, Bytes(256));
  }
  const ServingOrder order = OrderOf(trace);
  EXPECT_EQ(order.requests, 21u);
  EXPECT_EQ(order.alike, 20u);
}

// As no BFC pool does it, with threads that could be put into other orders.
TEST(ServingOrderTest, WhatNoOrderExplainsIsLeftAsRecorded) {
  constexpr uint64_t kAllocations = 100;
  TraceBuilder trace;
  trace.Region(kBase, 256 * kAllocations);
  for (uint64_t i = kAllocations; i-- > 0;) {
    trace.Thread(1 + i % 3).Alloc(kBase + i * 256, Bytes(256));
  }
  for (uint64_t i = 0; i < kAllocations; ++i) trace.Free(kBase + i * 256);
  trace.Alloc(kBase, Bytes(256));
  const ServingOrder order = OrderOf(trace);
  EXPECT_EQ(order.reordered, 0u);
  EXPECT_EQ(order.requests, kAllocations + 1);
  // The last of the first ones, for which one place is left, and the one behind
  // the releases, which shows that all were known to be where they lay.
  EXPECT_EQ(order.alike, 2u);
}

// Threads that are served by a model of the allocator, and recorded as the
// collector records them: an allocation some events after it was served, a
// release some events before.
TEST(ServingOrderTest, ThreadsThatWereServedInAnOrderAreFoundToBeServedSo) {
  constexpr size_t kThreads = 6;
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    std::mt19937_64 random(seed);
    BfcModel model({uint64_t{64} << 20});
    struct Event {
      uint64_t when;
      bool is_alloc;
      size_t thread;
      uint64_t address, bytes, allocated_bytes;
    };
    std::vector<Event> events;
    std::vector<std::vector<ChunkId>> live(kThreads);
    // When a thread's last event was recorded: its next is served after it.
    std::vector<uint64_t> busy_until(kThreads, 0);
    std::map<uint64_t, uint64_t> freed_at;
    for (uint64_t now = 10; now < 40000; now += 10) {
      const size_t thread = random() % kThreads;
      if (busy_until[thread] >= now) continue;
      const bool is_late = random() % 4 == 0;
      const uint64_t late = is_late ? random() % 60 : 0;
      if (live[thread].size() < 20 && random() % 2 == 0) {
        const uint64_t bytes = 1 + random() % 20000;
        const ChunkId id = model.Allocate(bytes);
        ASSERT_NE(id, kNoChunk);
        live[thread].push_back(id);
        busy_until[thread] = now + late;
        events.push_back({now + late, true, thread, model.chunk(id).address,
                          bytes, model.chunk(id).size_bytes});
      } else if (!live[thread].empty()) {
        std::swap(live[thread][random() % live[thread].size()],
                  live[thread].back());
        const ChunkId id = live[thread].back();
        live[thread].pop_back();
        const uint64_t early = std::min(late, now - busy_until[thread] - 1);
        events.push_back(
            {now - early, false, thread, model.chunk(id).address, 0, 0});
        model.Free(id);
        busy_until[thread] = now;
      }
    }
    std::stable_sort(
        events.begin(), events.end(),
        [](const Event& a, const Event& b) { return a.when < b.when; });
    TraceBuilder trace;
    for (const BfcRegion& region : model.Regions()) {
      trace.Region(region.address, region.size_bytes);
    }
    for (const Event& event : events) {
      trace.Thread(event.thread + 1);
      if (event.is_alloc) {
        trace.Alloc(event.address, Bytes(event.bytes, event.allocated_bytes));
      } else {
        trace.Free(event.address);
      }
    }
    const ServingOrder order = OrderOf(trace);
    EXPECT_GT(order.reordered, 0u);
    EXPECT_GE(static_cast<double>(order.alike),
              0.995 * static_cast<double>(order.requests))
        << "seed " << seed << ": " << order.alike << " of " << order.requests;
  }
}

}  // namespace
}  // namespace oom_forensics
