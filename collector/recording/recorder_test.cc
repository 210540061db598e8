#include "collector/recording/recorder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace oom_forensics::collector {
namespace {

const void* Address(uint64_t address) {
  return reinterpret_cast<const void*>(address);
}

std::set<uint64_t> Addresses(const LiveState& state) {
  std::set<uint64_t> addresses;
  for (const LiveAllocation& allocation : state.allocations) {
    addresses.insert(allocation.address);
  }
  return addresses;
}

// The live set after a recording: its baseline and all that came after it.
std::set<uint64_t> Replay(const Recording& capture) {
  std::set<uint64_t> live = Addresses(capture.baseline);
  capture.ForEachEvent([&](const Event& event) {
    if (event.kind == RecordedKind::kAlloc) {
      EXPECT_TRUE(live.insert(event.address).second);
    } else if (event.kind == RecordedKind::kFree) {
      EXPECT_EQ(live.erase(event.address), 1u);
    }
  });
  return live;
}

TEST(RecorderTest, ARecordingBeginsWithWhatWasLive) {
  Recorder recorder{Settings{}};
  recorder.RecordRegion(RecordedKind::kRegionAdd, 0, Address(4096), 1 << 20, 1);
  recorder.RecordAlloc(0, Address(4096), 7, 42, 1);
  recorder.RecordAlloc(0, Address(8192), 7, 42, 1);
  recorder.RecordFree(0, Address(8192), 1);
  recorder.StartCapture(CaptureOwner::kProfiler);
  const auto capture = recorder.StopCapture(CaptureOwner::kProfiler);
  ASSERT_NE(capture, nullptr);
  ASSERT_EQ(capture->baseline.allocations.size(), 1u);
  EXPECT_EQ(capture->baseline.allocations[0].address, 4096u);
  EXPECT_EQ(capture->baseline.allocations[0].site, 7u);
  EXPECT_EQ(capture->baseline.allocations[0].step_id, 42);
  ASSERT_EQ(capture->baseline.regions.size(), 1u);
  EXPECT_EQ(capture->baseline.regions[0].size_bytes, 1u << 20);
  EXPECT_EQ(capture->totals[0].allocs, 0u);
}

TEST(RecorderTest, ARecordingHoldsWhatHappenedDuringItAndCountsIt) {
  Recorder recorder{Settings{}};
  recorder.StartCapture(CaptureOwner::kProfiler);
  recorder.RecordAlloc(3, Address(4096), 1, 0, 1);
  recorder.RecordFree(3, Address(4096), 1);
  const uint64_t failed = recorder.RecordFailure(3, 1, 0, 1);
  const auto capture = recorder.StopCapture(CaptureOwner::kProfiler);
  recorder.RecordAlloc(3, Address(4096), 1, 0, 1);
  std::vector<RecordedKind> kinds;
  uint64_t last_sequence = 0;
  capture->ForEachEvent([&](const Event& event) {
    kinds.push_back(event.kind);
    EXPECT_GT(event.sequence, last_sequence);
    last_sequence = event.sequence;
  });
  EXPECT_EQ(kinds, (std::vector<RecordedKind>{RecordedKind::kAlloc,
                                              RecordedKind::kFree,
                                              RecordedKind::kFailed}));
  EXPECT_EQ(last_sequence, failed);
  EXPECT_EQ(capture->totals[3].allocs, 1u);
  EXPECT_EQ(capture->totals[3].frees, 1u);
  EXPECT_EQ(capture->totals[3].dropped, 0u);
}

TEST(RecorderTest, WithoutARecordingThereIsNothingToStop) {
  Recorder recorder{Settings{}};
  EXPECT_EQ(recorder.StopCapture(CaptureOwner::kProfiler), nullptr);
}

TEST(RecorderTest, AnOwnerHasOneRecordingAtATime) {
  Recorder recorder{Settings{}};
  EXPECT_TRUE(recorder.StartCapture(CaptureOwner::kProfiler));
  recorder.RecordAlloc(0, Address(4096), 1, 0, 1);
  EXPECT_FALSE(recorder.StartCapture(CaptureOwner::kProfiler));
  const auto capture = recorder.StopCapture(CaptureOwner::kProfiler);
  EXPECT_EQ(Replay(*capture), (std::set<uint64_t>{4096}));
  EXPECT_EQ(capture->totals[0].allocs, 1u);
}

TEST(RecorderTest, RecordingsOfTwoOwnersOverlapAndEachIsWhole) {
  Recorder recorder{Settings{}};
  recorder.StartCapture(CaptureOwner::kPython);
  recorder.RecordAlloc(0, Address(4096), 1, 0, 1);
  recorder.StartCapture(CaptureOwner::kProfiler);
  recorder.RecordAlloc(0, Address(8192), 1, 0, 1);
  const auto first = recorder.StopCapture(CaptureOwner::kPython);
  recorder.RecordAlloc(0, Address(12288), 1, 0, 1);
  const auto second = recorder.StopCapture(CaptureOwner::kProfiler);
  EXPECT_EQ(Addresses(first->baseline), (std::set<uint64_t>{}));
  EXPECT_EQ(Replay(*first), (std::set<uint64_t>{4096, 8192}));
  EXPECT_EQ(first->totals[0].allocs, 2u);
  EXPECT_EQ(Addresses(second->baseline), (std::set<uint64_t>{4096}));
  EXPECT_EQ(Replay(*second), (std::set<uint64_t>{4096, 8192, 12288}));
  EXPECT_EQ(second->totals[0].allocs, 2u);
}

TEST(RecorderTest, ARecordingThatIsTooLongKeepsItsEndAndCountsTheRest) {
  Settings settings;
  settings.capture_events = 10;
  Recorder recorder(settings);
  recorder.StartCapture(CaptureOwner::kProfiler);
  for (uint64_t i = 1; i <= 25; ++i) {
    recorder.RecordAlloc(0, Address(i * 256), 1, 0, 1);
  }
  // One that came within the end, and one from before.
  recorder.RecordFree(0, Address(25 * 256), 1);
  recorder.RecordFree(0, Address(256), 1);
  const auto capture = recorder.StopCapture(CaptureOwner::kProfiler);
  EXPECT_EQ(capture->totals[0].allocs, 25u);
  EXPECT_EQ(capture->totals[0].frees, 2u);
  EXPECT_EQ(capture->totals[0].dropped, 17u);
  EXPECT_EQ(Addresses(capture->baseline).size(), 17u);
  const std::set<uint64_t> live = Replay(*capture);
  EXPECT_EQ(live.size(), 23u);
  EXPECT_EQ(live.count(24 * 256), 1u);
}

TEST(RecorderTest, CountsWhatTheListOfTheLiveHasNoRoomFor) {
  constexpr uint64_t kAllocations = 1000;
  Recorder recorder{Settings{}, 64};
  for (uint64_t i = 1; i <= kAllocations; ++i) {
    recorder.RecordAlloc(0, Address(i << 12), 7, 42, 1);
  }
  recorder.StartCapture(CaptureOwner::kProfiler);
  const auto capture = recorder.StopCapture(CaptureOwner::kProfiler);
  EXPECT_LE(capture->baseline.allocations.size(), 64u);
  EXPECT_EQ(capture->baseline.allocations.size() + capture->totals[0].unlisted,
            kAllocations);
  EXPECT_EQ(recorder.Recent()->totals[0].unlisted, capture->totals[0].unlisted);
  EXPECT_EQ(recorder.CountUnlisted(0), capture->totals[0].unlisted);
  // It may not list all that is live until the allocator is gone.
  recorder.DropAllocator(0);
  EXPECT_EQ(recorder.Recent()->totals[0].unlisted, 0u);
}

TEST(RecorderTest, GivesTheSlotOfAGoneAllocatorAgainWhenItsEventsAreGone) {
  Settings settings;
  settings.allocation_log_buffer_size = 10;
  Recorder recorder{settings};
  const int objects[kMaxAllocators + 1] = {};
  for (size_t i = 0; i < kMaxAllocators; ++i) {
    ASSERT_NE(recorder.AddAllocator(&objects[i], AllocatorInfo()), nullptr);
  }
  recorder.StartCapture(CaptureOwner::kProfiler);
  recorder.RecordAlloc(3, Address(4096), 7, 42, 1);
  recorder.allocators().Forget(&objects[3]);
  recorder.DropAllocator(3);
  const void* const late = &objects[kMaxAllocators];
  EXPECT_EQ(recorder.AddAllocator(late, AllocatorInfo()), nullptr);
  for (uint64_t i = 1; i <= 20; ++i) {
    recorder.RecordAlloc(0, Address(i << 16), 7, 42, 1);
  }
  EXPECT_EQ(recorder.AddAllocator(late, AllocatorInfo()), nullptr)
      << "the session has its events";
  recorder.StopCapture(CaptureOwner::kProfiler);
  EXPECT_EQ(recorder.AddAllocator(late, AllocatorInfo())->id, 3);
}

TEST(RecorderTest, ForgetsTheAllocationsOfAnAllocatorThatEnded) {
  Recorder recorder{Settings{}};
  recorder.RecordAlloc(0, Address(4096), 1, 0, 1);
  recorder.RecordAlloc(1, Address(8192), 1, 0, 1);
  recorder.DropAllocator(0);
  recorder.StartCapture(CaptureOwner::kProfiler);
  EXPECT_EQ(Addresses(recorder.StopCapture(CaptureOwner::kProfiler)->baseline),
            (std::set<uint64_t>{8192}));
}

// Four threads that allocate and free as long as this lives, each at its own
// pace, and never hold more than one chunk each.
class BusyThreads {
 public:
  explicit BusyThreads(Recorder* recorder) {
    for (uint32_t thread = 1; thread <= 4; ++thread) {
      threads_.emplace_back([this, recorder, thread] {
        uint64_t i = 0;
        while (!stop_.load()) {
          const void* address =
              Address(uint64_t{thread} << 32 | (i++ % 512 + 1) << 8);
          recorder->RecordAlloc(0, address, 1, 0, thread);
          if (i % (3 * thread) == 0) std::this_thread::yield();
          recorder->RecordFree(0, address, thread);
        }
      });
    }
  }
  ~BusyThreads() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  BusyThreads(const BusyThreads&) = delete;
  BusyThreads& operator=(const BusyThreads&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

// Baseline and events fit together wherever the recording begins, although
// other threads allocate and free all the time.
TEST(RecorderTest, ARecordingIsAConsistentCutUnderThreads) {
  Recorder recorder{Settings{}};
  const BusyThreads threads(&recorder);
  for (int session = 0; session < 20; ++session) {
    recorder.StartCapture(CaptureOwner::kProfiler);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto capture = recorder.StopCapture(CaptureOwner::kProfiler);
    const size_t live = Replay(*capture).size();
    EXPECT_LE(live, 4u);
    EXPECT_EQ(capture->baseline.allocations.size() + capture->totals[0].allocs -
                  capture->totals[0].frees,
              live);
  }
}

// The last events and what was live before them fit together whenever they are
// asked for: none is missing between them, none is there twice.
TEST(RecorderTest, TheLastEventsAreWholeUnderThreads) {
  Settings settings;
  settings.allocation_log_buffer_size = 2000;
  Recorder recorder(settings);
  const BusyThreads threads(&recorder);
  for (int look = 0; look < 50; ++look) {
    const auto recent = recorder.Recent();
    EXPECT_LE(recent->events.size(), 2000u);
    uint64_t sequence = recent->baseline.next_sequence;
    for (const Event& event : recent->events) {
      ASSERT_EQ(event.sequence, sequence++);
    }
    EXPECT_LE(Replay(*recent).size(), 4u);
    EXPECT_EQ(recent->baseline.allocations.size() + recent->totals[0].allocs -
                  recent->totals[0].frees,
              Replay(*recent).size());
  }
}

TEST(RecorderTest, AnAllocationStandsWhereItWasServed) {
  Recorder recorder{Settings{}};
  recorder.RecordAlloc(0, Address(4096), 7, 42, 1);
  recorder.StartCapture(CaptureOwner::kProfiler);
  const uint64_t served = recorder.TakeSequence();
  recorder.RecordFree(0, Address(4096), 2);
  recorder.RecordAlloc(0, Address(8192), 7, 42, 1, {served, 0});
  const auto kinds = [](const Recording& recording) {
    std::vector<RecordedKind> kinds;
    recording.ForEachEvent(
        [&](const Event& event) { kinds.push_back(event.kind); });
    return kinds;
  };
  const std::vector<RecordedKind> expected = {RecordedKind::kAlloc,
                                              RecordedKind::kFree};
  EXPECT_EQ(kinds(*recorder.StopCapture(CaptureOwner::kProfiler)), expected);
  const auto recent = recorder.Recent();
  EXPECT_EQ(recent->events.at(1).address, 8192u);
  EXPECT_EQ(recent->events.at(2).kind, RecordedKind::kFree);
}

TEST(RecorderTest, WhatIsUnderWayWhenARecordingBeginsIsOfWhatWasThere) {
  Recorder recorder{Settings{}};
  const uint64_t served = recorder.TakeSequence();
  recorder.StartCapture(CaptureOwner::kProfiler);
  recorder.RecordAlloc(0, Address(4096), 7, 42, 1, {served, 0});
  recorder.RecordFree(0, Address(4096), 1);
  const auto capture = recorder.StopCapture(CaptureOwner::kProfiler);
  EXPECT_EQ(Addresses(capture->baseline), std::set<uint64_t>{4096});
  EXPECT_TRUE(Replay(*capture).empty());
  EXPECT_EQ(capture->totals[0].allocs, 0u);
  EXPECT_EQ(capture->totals[0].frees, 1u);
  EXPECT_EQ(capture->totals[0].dropped, 0u);
}

// A pool gives its chunks under its lock, the lowest that is free first. Played
// from any moment on, a recording tells for each allocation the chunk that it
// was given.
TEST(RecorderTest, TellsTheOrderInWhichAPoolServesItsThreads) {
  constexpr uint64_t kChunks = 64;
  Recorder recorder{Settings{}};
  std::mutex pool;
  std::set<uint64_t> holes;
  for (uint64_t i = 1; i <= kChunks; ++i) holes.insert(i << 8);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (uint32_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<uint64_t> held;
      for (uint64_t i = 0; !stop.load() || !held.empty(); ++i) {
        if (!stop.load() && held.size() < 4) {
          uint64_t address = 0;
          uint64_t sequence = 0;
          {
            const std::lock_guard<std::mutex> lock(pool);
            address = *holes.begin();
            holes.erase(holes.begin());
            sequence = recorder.TakeSequence();
          }
          if (i % 5 == 0) std::this_thread::yield();
          recorder.RecordAlloc(0, Address(address), 1, 0, thread,
                               {sequence, 0});
          held.push_back(address);
        } else {
          const auto freed =
              held.begin() + static_cast<ptrdiff_t>((i * thread) % held.size());
          const std::lock_guard<std::mutex> lock(pool);
          EXPECT_TRUE(recorder.TryRecordFree(0, Address(*freed), thread, 0));
          holes.insert(*freed);
          held.erase(freed);
        }
      }
    });
  }
  for (int session = 0; session < 20; ++session) {
    recorder.StartCapture(CaptureOwner::kProfiler);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto capture = recorder.StopCapture(CaptureOwner::kProfiler);
    std::set<uint64_t> free;
    for (uint64_t i = 1; i <= kChunks; ++i) free.insert(i << 8);
    for (const uint64_t address : Addresses(capture->baseline)) {
      free.erase(address);
    }
    uint64_t elsewhere = 0;
    capture->ForEachEvent([&](const Event& event) {
      if (event.kind == RecordedKind::kFree) {
        EXPECT_TRUE(free.insert(event.address).second);
      } else {
        if (*free.begin() != event.address) ++elsewhere;
        EXPECT_EQ(free.erase(event.address), 1u);
      }
    });
    EXPECT_EQ(elsewhere, 0u);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// Who releases a chunk holds the pool's lock, which must not be left locked in
// the child.
TEST(RecorderTest, DoesNotKeepAPoolLockedOverAFork) {
  Recorder recorder{Settings{}};
  recorder.RecordAlloc(0, Address(4096), 1, 0, 1);
  recorder.BeforeFork();
  std::thread thread(
      [&] { EXPECT_FALSE(recorder.TryRecordFree(0, Address(4096), 1, 0)); });
  thread.join();
  recorder.AfterForkInParent();
  EXPECT_TRUE(recorder.TryRecordFree(0, Address(4096), 1, 0));
  EXPECT_TRUE(recorder.Recent()->baseline.allocations.empty());
  EXPECT_EQ(recorder.Recent()->events.size(), 2u);
}

// A child of fork() finds the recorder whole although other threads were in
// it, and does not go on with its parent's recording.
TEST(RecorderTest, SurvivesForkWhileThreadsRecord) {
  Recorder recorder{Settings{}};
  recorder.StartCapture(CaptureOwner::kProfiler);
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    for (uint64_t i = 1; !stop.load(); ++i) {
      const void* address = Address((i % 64 + 1) << 8);
      recorder.RecordAlloc(0, address, 1, 0, 2);
      recorder.RecordFree(0, address, 2);
    }
  });
  for (int i = 0; i < 20; ++i) {
    recorder.BeforeFork();
    const pid_t child = fork();
    if (child == 0) {
      recorder.AfterForkInChild();
      recorder.RecordAlloc(0, Address(1 << 20), 1, 0, 3);
      recorder.RecordFree(0, Address(1 << 20), 3);
      _exit(recorder.StopCapture(CaptureOwner::kProfiler) == nullptr ? 0 : 1);
    }
    recorder.AfterForkInParent();
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  thread.join();
  EXPECT_NE(recorder.StopCapture(CaptureOwner::kProfiler), nullptr);
}

}  // namespace
}  // namespace oom_forensics::collector
