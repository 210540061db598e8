#include "collector/recording/capture_log.h"

#include <cstdlib>
#include <mutex>
#include <utility>

namespace oom_forensics::collector {

CaptureLog::CaptureLog(uint64_t first, uint64_t cap)
    : first_(first),
      cap_(std::max<uint64_t>(cap, 1)),
      block_count_((cap_ + kEventsPerBlock - 1) / kEventsPerBlock),
      blocks_(new std::atomic<Event*>[block_count_]()) {}

CaptureLog::~CaptureLog() {
  for (uint64_t i = 0; i < block_count_; ++i) std::free(blocks_[i].load());
}

void CaptureLog::Write(const Event& event) noexcept {
  if (event.sequence >= end_) return;
  if (end_ != UINT64_MAX) {
    late_[event.allocator].fetch_add(1, std::memory_order_relaxed);
  }
  if (Keep(event)) return;
  dropped_[event.allocator].fetch_add(1, std::memory_order_relaxed);
}

bool CaptureLog::Keep(const Event& event) noexcept {
  if (event.sequence < first_) return KeepEarlier(event);
  const uint64_t place = PlaceOf(event.sequence);
  const uint64_t block = place / kEventsPerBlock;
  Event* events = blocks_[block].load(std::memory_order_acquire);
  if (events == nullptr) {
    events = AllocateBlock(block);
    if (events == nullptr) return false;
  }
  const std::lock_guard<SpinLock> lock(
      place_locks_[place % place_locks_.size()].lock);
  Event& kept = events[place % kEventsPerBlock];
  if (kept.sequence == 0) {
    kept = event;
    return true;
  }
  // A closed log is not turned any further.
  if (end_ != UINT64_MAX) return false;
  // The other may have come a turn later, and been here before.
  Event lost = event;
  if (event.sequence > kept.sequence) std::swap(lost, kept);
  dropped_[lost.allocator].fetch_add(1, std::memory_order_relaxed);
  uint64_t gone = gone_.load(std::memory_order_relaxed);
  while (gone < lost.sequence &&
         !gone_.compare_exchange_weak(gone, lost.sequence,
                                      std::memory_order_relaxed)) {
  }
  return true;
}

void CaptureLog::DropRest() noexcept {
  const uint64_t begin = Begin();
  for (uint64_t block = 0; block < block_count_; ++block) {
    Event* events = blocks_[block].load(std::memory_order_acquire);
    for (uint64_t i = 0; events != nullptr && i < kEventsPerBlock; ++i) {
      if (events[i].sequence == 0 || events[i].sequence >= begin) continue;
      dropped_[events[i].allocator].fetch_add(1, std::memory_order_relaxed);
      events[i].sequence = 0;
    }
  }
}

bool CaptureLog::KeepEarlier(const Event& event) noexcept {
  std::lock_guard<SpinLock> lock(allocation_lock_);
  try {
    earlier_.push_back(event);
    return true;
  } catch (...) {  // bad_alloc
    return false;
  }
}

Event* CaptureLog::AllocateBlock(uint64_t block) noexcept {
  std::lock_guard<SpinLock> lock(allocation_lock_);
  Event* events = blocks_[block].load(std::memory_order_acquire);
  if (events != nullptr) return events;
  // Zeroed pages of the system: all places begin as "no event".
  events = static_cast<Event*>(std::calloc(kEventsPerBlock, sizeof(Event)));
  blocks_[block].store(events, std::memory_order_release);
  return events;
}

}  // namespace oom_forensics::collector
