#include "collector/recording/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collector/recording/recorder.h"

namespace oom_forensics::collector {
namespace {

const void* Address(uint64_t address) {
  return reinterpret_cast<const void*>(address);
}

void Rewind(const std::vector<Event>& events, LiveState* state) {
  Rewinder rewinder(state);
  std::for_each(events.rbegin(), events.rend(),
                [&](const Event& event) { rewinder.Undo(event); });
  rewinder.Finish();
}

TEST(RewindTest, BringsBackWhatWasFreedAndTakesAwayWhatCame) {
  LiveState state;
  LiveAllocation stayed;
  stayed.address = 256;
  LiveAllocation came;
  came.address = 512;
  state.allocations = {stayed, came};

  Event alloc;
  alloc.sequence = 10;
  alloc.time_ns = 1'000'000'000;
  alloc.kind = RecordedKind::kAlloc;
  alloc.address = 512;
  Event free;
  free.sequence = 11;
  free.time_ns = 2'000'000'000;
  free.kind = RecordedKind::kFree;
  free.address = 768;
  free.site = 5;
  free.value = 42;
  free.age_100us = 15'000;

  Rewind({alloc, free}, &state);
  ASSERT_EQ(state.allocations.size(), 2u);
  EXPECT_EQ(state.allocations[0].address, 256u);
  EXPECT_EQ(state.allocations[1].address, 768u);
  EXPECT_EQ(state.allocations[1].site, 5u);
  EXPECT_EQ(state.allocations[1].step_id, 42);
  EXPECT_EQ(state.allocations[1].born_ns, 500'000'000);
  EXPECT_EQ(state.next_sequence, 10u);
  EXPECT_EQ(state.time_ns, 1'000'000'000);
}

TEST(RewindTest, TurnsRegionsBack) {
  LiveState state;
  state.regions = {{4096, 1024, 0}};
  Event add;
  add.sequence = 1;
  add.kind = RecordedKind::kRegionAdd;
  add.address = 4096;
  add.value = 1024;
  Event remove = add;
  remove.sequence = 2;
  remove.kind = RecordedKind::kRegionRemove;
  remove.address = 8192;
  Rewind({add, remove}, &state);
  ASSERT_EQ(state.regions.size(), 1u);
  EXPECT_EQ(state.regions[0].address, 8192u);
}

// However long ago the recorder began, its last events and what was live before
// them lead to what is live now.
TEST(RecentTest, LeadsToWhatIsLiveNow) {
  Settings settings;
  settings.allocation_log_buffer_size = 1000;
  Recorder recorder(settings);
  std::set<uint64_t> live;
  for (uint64_t i = 1; i <= 5000; ++i) {
    const uint64_t address = (i * 7919 % 300 + 1) * 256;
    if (live.insert(address).second) {
      recorder.RecordAlloc(0, Address(address), 1, 0, 1);
    } else {
      recorder.RecordFree(0, Address(address), 1);
      live.erase(address);
    }
  }
  const auto recording = recorder.Recent();
  EXPECT_EQ(recording->events.size(), 1000u);
  std::set<uint64_t> replayed;
  for (const LiveAllocation& allocation : recording->baseline.allocations) {
    replayed.insert(allocation.address);
  }
  recording->ForEachEvent([&](const Event& event) {
    if (event.kind == RecordedKind::kAlloc) {
      EXPECT_TRUE(replayed.insert(event.address).second);
    } else {
      EXPECT_EQ(replayed.erase(event.address), 1u);
    }
  });
  EXPECT_EQ(replayed, live);
}

TEST(RecentTest, KnowsTheTrainingStepAtItsBeginning) {
  Settings settings;
  settings.allocation_log_buffer_size = 1000;
  Recorder recorder(settings);
  recorder.RecordStep(41, 1);
  for (uint64_t i = 1; i <= 1000; ++i) {
    recorder.RecordAlloc(0, Address(i * 256), 1, 0, 1);
  }
  // Its mark has left the ring; the step goes on.
  EXPECT_EQ(recorder.Recent()->baseline.training_step, 41);
  recorder.RecordStep(42, 1);
  EXPECT_EQ(recorder.Recent()->baseline.training_step, 41);
  recorder.RecordStep(kNoStep, 1);
  recorder.StartCapture(CaptureOwner::kProfiler);
  EXPECT_EQ(
      recorder.StopCapture(CaptureOwner::kProfiler)->baseline.training_step,
      kNoStep);
}

TEST(KeepsTest, TossesForSmallAllocationsOnly) {
  Settings settings;
  settings.allocation_log_sampling_rate = 0.25;
  settings.min_bytes = 512;
  Recorder recorder(settings);
  uint64_t random = 12345;
  int kept = 0;
  constexpr int kTosses = 100'000;
  for (int i = 0; i < kTosses; ++i) kept += recorder.Keeps(4096, &random);
  // Five standard deviations of a toss of 1/4.
  EXPECT_NEAR(kept, kTosses / 4, 5 * 137);
  EXPECT_FALSE(recorder.Keeps(511, &random));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(recorder.Keeps(kAlwaysKeptBytes, &random));
  }
}

TEST(ReconfigureTest, IsRefusedOnceEventsWereRecorded) {
  Recorder recorder{Settings{}};
  Settings settings;
  settings.min_bytes = 512;
  EXPECT_TRUE(recorder.Reconfigure(settings));
  recorder.RecordAlloc(0, Address(4096), 1, 0, 1);
  EXPECT_FALSE(recorder.Reconfigure(settings));
}

}  // namespace
}  // namespace oom_forensics::collector
