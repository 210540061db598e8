#include "collector/recording/event_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace oom_forensics::collector {
namespace {

Event MakeEvent(uint64_t sequence) {
  Event event;
  event.sequence = sequence;
  event.time_ns = static_cast<int64_t>(sequence) * 10;
  event.address = sequence * 256;
  event.value = -static_cast<int64_t>(sequence);
  event.site = static_cast<SiteId>(sequence + 1);
  event.thread = static_cast<uint32_t>(sequence + 2);
  event.allocator = 63;
  event.kind = RecordedKind::kRegionRemove;
  event.age_100us = static_cast<uint32_t>(sequence + 3);
  return event;
}

TEST(EventRingTest, GivesBackEveryFieldAsWritten) {
  EventRing ring(8);
  const Event written = MakeEvent(5);
  ring.Write(written);
  const std::vector<Event> events = ring.Read(5, 5);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].sequence, written.sequence);
  EXPECT_EQ(events[0].time_ns, written.time_ns);
  EXPECT_EQ(events[0].address, written.address);
  EXPECT_EQ(events[0].value, written.value);
  EXPECT_EQ(events[0].site, written.site);
  EXPECT_EQ(events[0].thread, written.thread);
  EXPECT_EQ(events[0].allocator, written.allocator);
  EXPECT_EQ(events[0].kind, written.kind);
  EXPECT_EQ(events[0].age_100us, written.age_100us);
}

TEST(EventRingTest, KeepsTheLastEventsInOrder) {
  EventRing ring(10);
  for (uint64_t i = 1; i <= 25; ++i) ring.Write(MakeEvent(i));
  const std::vector<Event> events = ring.Read(1, 25);
  ASSERT_EQ(events.size(), 10u);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(events[i].sequence, 16 + i);
}

TEST(EventRingTest, LeavesOutWhatWasNeverWritten) {
  EventRing ring(10);
  ring.Write(MakeEvent(3));
  EXPECT_EQ(ring.Read(1, 10).size(), 1u);
  EXPECT_TRUE(ring.Read(1, 0).empty());
}

// A writer that was stopped for a whole turn writes an old event.
TEST(EventRingTest, AWriterThatIsLateByAWholeTurnSpoilsNothing) {
  EventRing ring(4);
  for (uint64_t i = 1; i <= 8; ++i) ring.Write(MakeEvent(i));
  ring.Write(MakeEvent(2));
  const std::vector<Event> events = ring.Read(1, 8);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[1].sequence, 6u);
}

TEST(EventRingTest, TakesEventsOfManyThreads) {
  EventRing ring(4000);
  std::vector<std::thread> threads;
  for (uint64_t first = 1; first <= 4; ++first) {
    threads.emplace_back([&ring, first] {
      for (uint64_t i = first; i <= 4000; i += 4) ring.Write(MakeEvent(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ring.Read(1, 4000).size(), 4000u);
}

// However often each of them writes.
TEST(EventRingTest, KeepsTheLastEventsOfManyThreadsWithoutAGap) {
  constexpr uint64_t kCapacity = 20'000;
  constexpr uint64_t kEvents = 10 * kCapacity;
  EventRing ring(kCapacity);
  std::atomic<uint64_t> next{1};
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < 5; ++thread) {
    threads.emplace_back([&ring, &next, thread] {
      uint64_t seldom = 0;
      while (true) {
        // The first thread writes one event in some hundred.
        const uint64_t now = next.load();
        if (thread == 0 && now < seldom && now <= kEvents) {
          std::this_thread::yield();
          continue;
        }
        const uint64_t sequence = next.fetch_add(1);
        if (sequence > kEvents) return;
        ring.Write(MakeEvent(sequence));
        seldom = sequence + 500;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<Event> events = ring.Read(1, kEvents);
  // How much they leave empty depends on how they were stopped.
  ASSERT_GT(events.size(), kCapacity / 4);
  ASSERT_LE(events.size(), kCapacity);
  for (uint64_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].sequence, kEvents - events.size() + 1 + i);
    ASSERT_EQ(events[i].address, MakeEvent(events[i].sequence).address);
  }
}

// Each thread that ends leaves a part of its block empty. What is given then
// begins later; nothing is missing in it.
TEST(EventRingTest, BeginsLaterWhereThreadsLeaveMuchEmpty) {
  constexpr uint64_t kCapacity = 2000;
  constexpr uint64_t kEvents = 3000;
  EventRing ring(kCapacity);
  for (uint64_t i = 1; i <= kEvents; ++i) {
    std::thread([&ring, i] { ring.Write(MakeEvent(i)); }).join();
  }
  const std::vector<Event> events = ring.Read(1, kEvents);
  ASSERT_GT(events.size(), 50u);
  ASSERT_LT(events.size(), kCapacity);
  for (uint64_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(events[i].sequence, kEvents - events.size() + 1 + i);
  }
}

TEST(EventRingTest, AThreadWritesIntoManyRings) {
  EventRing one(100);
  EventRing other(100);
  for (uint64_t i = 1; i <= 50; ++i) {
    one.Write(MakeEvent(i));
    other.Write(MakeEvent(2 * i));
  }
  EXPECT_EQ(one.Read(1, 50).size(), 50u);
  EXPECT_EQ(other.Read(1, 100).size(), 50u);
}

}  // namespace
}  // namespace oom_forensics::collector
