// CaptureLog: all events of one profiler session, up to a cap. The place of an
// event is its sequence minus the first one of the session; places lie in
// blocks that are allocated when they are first reached, so that a short
// session costs little and no event is ever copied.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_CAPTURE_LOG_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_CAPTURE_LOG_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "collector/recording/allocator_table.h"
#include "collector/recording/event.h"
#include "collector/recording/spin_lock.h"

namespace oom_forensics::collector {

class CaptureLog {
 public:
  // Holds the events of sequence first, first + 1, ... first + cap - 1.
  CaptureLog(uint64_t first, uint64_t cap);
  ~CaptureLog();
  CaptureLog(const CaptureLog&) = delete;
  CaptureLog& operator=(const CaptureLog&) = delete;

  // An event beyond the cap, or for which memory is short, is lost and counted.
  void Write(const Event& event) noexcept;

  // From now on only events below this sequence are written: those that took
  // theirs before and are under way. No writer may be at work.
  void EndAt(uint64_t end) { end_ = end; }
  // Of an allocator, how many were.
  uint64_t late(AllocatorId allocator) const noexcept {
    return late_[allocator].load(std::memory_order_relaxed);
  }

  // Those written whose sequence is below `first`, each once. No writer may be
  // at work.
  std::vector<Event> TakeEarlier() { return std::move(earlier_); }

  // Events of an allocator that were lost.
  uint64_t dropped(AllocatorId allocator) const noexcept {
    return dropped_[allocator].load(std::memory_order_relaxed);
  }

  // Calls visit(const Event&) for the events in order. No writer may be at
  // work.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (uint64_t block = 0; block < block_count_; ++block) {
      const Event* events = blocks_[block].load(std::memory_order_acquire);
      if (events == nullptr) continue;
      for (uint64_t i = 0; i < kEventsPerBlock; ++i) {
        if (events[i].sequence != 0) visit(events[i]);
      }
    }
  }

  uint64_t first() const { return first_; }

 private:
  static constexpr uint64_t kEventsPerBlock = 16384;

  bool Keep(const Event& event) noexcept;
  bool KeepEarlier(const Event& event) noexcept;
  Event* AllocateBlock(uint64_t block) noexcept;

  const uint64_t first_;
  const uint64_t cap_;
  const uint64_t block_count_;
  std::unique_ptr<std::atomic<Event*>[]> blocks_;
  SpinLock allocation_lock_;
  // Guarded by it.
  std::vector<Event> earlier_;
  std::array<std::atomic<uint64_t>, kMaxAllocators> dropped_ = {};
  std::array<std::atomic<uint64_t>, kMaxAllocators> late_ = {};
  uint64_t end_ = UINT64_MAX;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_CAPTURE_LOG_H_
