// CaptureLog: all events of one profiler session, or the last ones up to a cap.
// The place of an event is its sequence minus the first one of the session, and
// beyond the cap that of the event so many before it; places lie in
// blocks that are allocated when they are first reached, so that a short
// session costs little and no event is ever copied.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_CAPTURE_LOG_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_CAPTURE_LOG_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "collector/recording/allocator_table.h"
#include "collector/recording/cache_line.h"
#include "collector/recording/event.h"
#include "collector/recording/spin_lock.h"

namespace oom_forensics::collector {

class CaptureLog {
 public:
  // Holds `cap` events from the sequence `first` on; of more the last ones, as
  // the end of a recording is what matters.
  CaptureLog(uint64_t first, uint64_t cap);
  ~CaptureLog();
  CaptureLog(const CaptureLog&) = delete;
  CaptureLog& operator=(const CaptureLog&) = delete;

  // An event for which memory is short is lost and counted.
  void Write(const Event& event) noexcept;

  // From now on only events below this sequence are written: those that took
  // theirs before and are under way. No writer may be at work.
  void EndAt(uint64_t end) { end_ = end; }
  // How many of an allocator's events were late.
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
    const uint64_t begin = Begin();
    for (uint64_t i = 0; i < cap_; ++i) {
      if (const Event* event = At(begin + i)) visit(*event);
    }
  }
  // The same, the last one first.
  template <typename Visit>
  void ForEachBackwards(Visit visit) const {
    const uint64_t begin = Begin();
    for (uint64_t i = cap_; i > 0; --i) {
      if (const Event* event = At(begin + i - 1)) visit(*event);
    }
  }

  // There were more events than it holds: those up to some sequence are gone.
  // No writer may be at work.
  bool overflowed() const { return gone_.load(std::memory_order_relaxed) != 0; }

  // Takes out, and counts, what is left from before that sequence: the
  // sequences have gaps. To be called where it overflowed.
  void DropRest() noexcept;

  uint64_t first() const { return first_; }

 private:
  static constexpr uint64_t kEventsPerBlock = 16384;

  // Where the event of this sequence lies.
  uint64_t PlaceOf(uint64_t sequence) const {
    return (sequence - first_) % cap_;
  }
  // The sequence of the first event that is held.
  uint64_t Begin() const {
    return std::max(first_, gone_.load(std::memory_order_relaxed) + 1);
  }
  // The event of a sequence; null: it is not there.
  const Event* At(uint64_t sequence) const {
    const uint64_t place = PlaceOf(sequence);
    const Event* events =
        blocks_[place / kEventsPerBlock].load(std::memory_order_acquire);
    if (events == nullptr) return nullptr;
    const Event& event = events[place % kEventsPerBlock];
    return event.sequence == sequence ? &event : nullptr;
  }

  bool Keep(const Event& event) noexcept;
  bool KeepEarlier(const Event& event) noexcept;
  Event* AllocateBlock(uint64_t block) noexcept;

  const uint64_t first_;
  const uint64_t cap_;
  const uint64_t block_count_;
  std::unique_ptr<std::atomic<Event*>[]> blocks_;
  // Locks a place: a thread that took its sequence a whole turn ago may meet
  // another thread there.
  struct alignas(kCacheLineBytes) PlaceLock {
    SpinLock lock;
  };
  std::array<PlaceLock, 64> place_locks_;
  // The highest sequence that another has taken the place of.
  std::atomic<uint64_t> gone_{0};
  SpinLock allocation_lock_;
  // Guarded by it.
  std::vector<Event> earlier_;
  std::array<std::atomic<uint64_t>, kMaxAllocators> dropped_ = {};
  std::array<std::atomic<uint64_t>, kMaxAllocators> late_ = {};
  uint64_t end_ = UINT64_MAX;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_CAPTURE_LOG_H_
