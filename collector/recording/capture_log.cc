#include "collector/recording/capture_log.h"

#include <cstdlib>
#include <mutex>

namespace oom_forensics::collector {

CaptureLog::CaptureLog(uint64_t first, uint64_t cap)
    : first_(first),
      cap_(cap),
      block_count_((cap + kEventsPerBlock - 1) / kEventsPerBlock),
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
  const uint64_t place = event.sequence - first_;
  if (place >= cap_) return false;
  const uint64_t block = place / kEventsPerBlock;
  Event* events = blocks_[block].load(std::memory_order_acquire);
  if (events == nullptr) {
    events = AllocateBlock(block);
    if (events == nullptr) return false;
  }
  events[place % kEventsPerBlock] = event;
  return true;
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
