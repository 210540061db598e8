// The part of the Recorder that reads: everything stands still for it.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "collector/recording/clock.h"
#include "collector/recording/recorder.h"

namespace oom_forensics::collector {
namespace {

// How long allocations that are under way are waited for.
constexpr int kPolls = 5000;
constexpr auto kBetweenPolls = std::chrono::microseconds(200);

}  // namespace

uint64_t Recorder::CountLogged() const {
  uint64_t logged = 0;
  for (const Shard& shard : shards_) logged += shard.logged;
  return logged;
}

size_t Recorder::CountLive() const {
  size_t live = 0;
  for (const Shard& shard : shards_) live += shard.live.size();
  return live;
}

TotalsByAllocator Recorder::SumTotals() const {
  TotalsByAllocator sum = {};
  for (const Shard& shard : shards_) {
    for (size_t i = 0; i < kMaxAllocators; ++i) {
      sum[i].allocs += shard.totals[i].allocs;
      sum[i].frees += shard.totals[i].frees;
      sum[i].dropped += shard.totals[i].dropped;
      sum[i].unlisted += shard.totals[i].unlisted;
    }
  }
  return sum;
}

LiveState Recorder::CopyLiveState() const {
  LiveState state;
  state.allocations.reserve(CountLive());
  state.next_sequence = next_sequence_.load(std::memory_order_relaxed);
  state.time_ns = WallClockNs();
  for (const Shard& shard : shards_) {
    shard.live.ForEach([&](const LiveAllocation& allocation) {
      state.allocations.push_back(allocation);
    });
  }
  state.regions = regions_;
  state.training_step = training_step_;
  return state;
}

bool Recorder::StartCapture(CaptureOwner owner) {
  const auto index = static_cast<size_t>(owner);
  std::lock_guard<std::mutex> lock(capture_mutex_);
  if (captures_[index] != nullptr) return false;
  auto capture = std::make_unique<Recording>();
  capture->keeps_allocators = recordings_;
  {
    const Standstill standstill(this);
    capture->baseline = CopyLiveState();
    capture->log = std::make_unique<CaptureLog>(capture->baseline.next_sequence,
                                                capture_events_);
    capture->totals = SumTotals();
    capture_logs_[index] = capture->log.get();
  }
  captures_[index] = std::move(capture);
  return true;
}

template <typename AtEnd>
void Recorder::ReachEnd(AtEnd at_end) {
  uint64_t under_way = 0;
  {
    const Standstill standstill(this);
    const uint64_t end = next_sequence_.load(std::memory_order_relaxed);
    under_way = end - 1 - CountLogged();
    arrived_.store(0, std::memory_order_relaxed);
    awaited_below_.store(end, std::memory_order_relaxed);
    at_end(end);
  }
  for (int i = 0; i < kPolls && arrived_.load() < under_way; ++i) {
    std::this_thread::sleep_for(kBetweenPolls);
  }
  const Standstill standstill(this);
  awaited_below_.store(0, std::memory_order_relaxed);
}

namespace {

// The log's first events are gone: the recording begins where it does now. Its
// baseline is what is live in the end.
void BeginWhereLogDoes(Recording* capture) {
  capture->log->DropRest();
  Rewinder rewinder(&capture->baseline);
  capture->log->ForEachBackwards(
      [&](const Event& event) { rewinder.Undo(event); });
  rewinder.Finish();
}

// Adds the events that were under way at the capture's end or beginning.
void AddWhatCameLate(Recording* capture) {
  for (size_t i = 0; i < kMaxAllocators; ++i) {
    capture->totals[i].allocs +=
        capture->log->late(static_cast<AllocatorId>(i));
  }
  for (const Event& event : capture->log->TakeEarlier()) {
    --capture->totals[event.allocator].allocs;
    capture->baseline.allocations.push_back({event.address, event.time_ns,
                                             event.value, event.site,
                                             event.thread, event.allocator});
  }
}

}  // namespace

std::unique_ptr<Recording> Recorder::StopCapture(CaptureOwner owner) {
  const auto index = static_cast<size_t>(owner);
  std::lock_guard<std::mutex> lock(capture_mutex_);
  // Taken out first: where memory is too short to finish it, it is given up.
  std::unique_ptr<Recording> capture = std::move(captures_[index]);
  if (capture == nullptr) return nullptr;
  const auto set_totals = [&] {
    capture->stop_ns = WallClockNs();
    const TotalsByAllocator now = SumTotals();
    for (size_t i = 0; i < kMaxAllocators; ++i) {
      EventTotals& totals = capture->totals[i];
      totals.allocs = now[i].allocs - totals.allocs;
      totals.frees = now[i].frees - totals.frees;
      totals.dropped = now[i].dropped - totals.dropped;
      totals.unlisted = now[i].unlisted;
    }
  };
  bool overflowed = false;
  ReachEnd([&](uint64_t end) {
    overflowed = capture->log->overflowed();
    if (overflowed) return;
    capture->log->EndAt(end);
    set_totals();
  });
  {
    const Standstill standstill(this);
    capture_logs_[index] = nullptr;
    if (overflowed) {
      set_totals();
      capture->baseline = CopyLiveState();
    }
  }
  if (overflowed) {
    BeginWhereLogDoes(capture.get());
  } else {
    AddWhatCameLate(capture.get());
  }
  for (size_t i = 0; i < kMaxAllocators; ++i) {
    capture->totals[i].dropped +=
        capture->log->dropped(static_cast<AllocatorId>(i));
  }
  capture->failures = failures_.Since(capture->baseline.next_sequence);
  return capture;
}

std::unique_ptr<Recording> Recorder::Recent() {
  auto recording = std::make_unique<Recording>();
  recording->keeps_allocators = recordings_;
  {
    std::lock_guard<std::mutex> lock(capture_mutex_);
    ReachEnd([](uint64_t) {});
  }
  {
    const Standstill standstill(this);
    const TotalsByAllocator now = SumTotals();
    for (size_t i = 0; i < kMaxAllocators; ++i) {
      recording->totals[i].unlisted = now[i].unlisted;
    }
    recording->baseline = CopyLiveState();
    recording->events = ring_->Read(1, recording->baseline.next_sequence - 1);
    recording->stop_ns = recording->baseline.time_ns;
  }
  Rewinder rewinder(&recording->baseline);
  std::for_each(recording->events.rbegin(), recording->events.rend(),
                [&](const Event& event) { rewinder.Undo(event); });
  rewinder.Finish();
  for (const Event& event : recording->events) {
    EventTotals& totals = recording->totals[event.allocator];
    if (event.kind == RecordedKind::kAlloc) ++totals.allocs;
    if (event.kind == RecordedKind::kFree) ++totals.frees;
  }
  recording->failures = failures_.Since(recording->baseline.next_sequence);
  return recording;
}

void Recorder::BeforeFork() {
  capture_mutex_.lock();
  forking_ = true;
  failures_.mutex().lock();
  allocators_.BeforeFork();
  sites_.mutex().lock();
  stacks_.lock().lock();
  for (Shard& shard : shards_) shard.lock.lock();
}

void Recorder::AfterForkInParent() {
  for (Shard& shard : shards_) shard.lock.unlock();
  stacks_.lock().unlock();
  sites_.mutex().unlock();
  allocators_.AfterFork();
  failures_.mutex().unlock();
  forking_ = false;
  capture_mutex_.unlock();
}

void Recorder::AfterForkInChild() {
  capture_logs_ = {};
  captures_ = {};
  // What other threads were about to record, they will in the parent.
  awaited_below_ = 0;
  shards_[0].logged += next_sequence_.load() - 1 - CountLogged();
  AfterForkInParent();
  allocators_.AfterForkInChild();
}

}  // namespace oom_forensics::collector
