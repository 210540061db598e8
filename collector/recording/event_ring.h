// EventRing: the last N events, in memory of fixed size. It is divided into
// blocks, of which each thread fills one of its own; only to take the next one,
// that which was taken longest ago, do threads meet. (Were an event's slot told
// by its sequence, neighbours would come from several cores, and each write
// would wait for another core's cache line: docs/benchmarks.md.)
//
// What was in a block that is taken again is gone. Read() begins behind the
// last event that went, so that none is missing between those that it gives. A
// thread that writes little leaves its block after a sixteenth of a turn: what
// goes is old, whoever wrote it.
//
// Each block has a lock, which is its thread's own but for the moment at which
// another takes it. That never waits: a block that is being written, because
// its thread was stopped for a whole turn, is passed over.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_RING_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_RING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "collector/recording/cache_line.h"
#include "collector/recording/event.h"
#include "collector/recording/spin_lock.h"

namespace oom_forensics::collector {

class EventRing {
 public:
  // Keeps the last `capacity` events; at least 1. A quarter more are there for
  // what threads leave empty; where hundreds of them leave more, less is kept.
  explicit EventRing(uint64_t capacity);

  void Write(const Event& event) noexcept;

  // The events that are still there of sequence first..last, both included, in
  // order. No writer may be at work.
  std::vector<Event> Read(uint64_t first, uint64_t last) const;

  uint64_t capacity() const { return capacity_; }

 private:
  // With what else is in a block, 25 cache lines.
  static constexpr uint64_t kEventsPerBlock = 33;
  struct alignas(kCacheLineBytes) Block {
    SpinLock lock;
    // Guarded by it: as the how manieth it was taken last, from 1.
    uint64_t ticket = 0;
    // The highest sequence in it.
    uint64_t last = 0;
    Event events[kEventsPerBlock];
  };
  // Where a thread writes. Plain data without a destructor, as ThreadState.
  struct Lane {
    // The ring that it belongs to; 0: none.
    uint64_t ring_id = 0;
    uint64_t ticket = 0;
    Block* block = nullptr;
    // Events that it has written into it.
    uint64_t written = 0;
  };

  static Lane& CurrentLane() noexcept;
  // Locks the thread's block. False: it has none, or is to have another.
  bool LockBlock(const Lane& lane) const noexcept;
  // Gives the thread its next block, locked.
  void TakeBlock(Lane* lane) noexcept;

  // No other ring of the process has it.
  const uint64_t id_;
  const uint64_t capacity_;
  const uint64_t block_count_;
  std::unique_ptr<Block[]> blocks_;
  // Blocks taken so far.
  alignas(kCacheLineBytes) std::atomic<uint64_t> taken_{0};
  // No event up to this sequence need be there any more.
  std::atomic<uint64_t> gone_{0};
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_RING_H_
