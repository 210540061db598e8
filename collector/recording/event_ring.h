// EventRing: the last N events, in memory of fixed size. The slot of an event
// is its sequence modulo N, so writers agree on slots without talking to each
// other.
//
// Every word of a slot is a relaxed atomic: free on x86, and a writer that was
// stopped for a whole turn of the ring can only spoil that one slot, which
// Read() then leaves out because its first and last words disagree.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_RING_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_RING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "collector/recording/event.h"

namespace oom_forensics::collector {

class EventRing {
 public:
  // Keeps the last `capacity` events; at least 1.
  explicit EventRing(uint64_t capacity);

  void Write(const Event& event) noexcept;

  // The events that are still there of sequence first..last, both included, in
  // order. No writer may be at work.
  std::vector<Event> Read(uint64_t first, uint64_t last) const;

  uint64_t capacity() const { return capacity_; }

 private:
  // sequence, time, address, value, site|thread, allocator|kind|age, sequence.
  static constexpr int kWords = 7;
  struct Slot {
    std::atomic<uint64_t> words[kWords];
  };

  const uint64_t capacity_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_RING_H_
