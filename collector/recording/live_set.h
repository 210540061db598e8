// LiveSet: the allocations that are live now, by address. An open-addressing
// hash table with linear probing; an erased entry is closed up by moving its
// successors back, so that lookups never slow down with age.
//
// Not synchronised: the Recorder guards each of its live sets with a lock.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_LIVE_SET_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_LIVE_SET_H_

#include <cstddef>
#include <cstdint>

#include "collector/recording/event.h"

namespace oom_forensics::collector {

// Spreads an address over all 64 bits; allocators hand out multiples of 64 or
// more, so the low bits alone would collide.
inline uint64_t HashAddress(uint64_t address) {
  const uint64_t mixed = (address >> 6) * 0x9e3779b97f4a7c15u;
  return mixed ^ (mixed >> 29);
}

class LiveSet {
 public:
  // Keeps at most `max_entries`.
  explicit LiveSet(size_t max_entries = SIZE_MAX) : max_entries_(max_entries) {}
  ~LiveSet();
  LiveSet(const LiveSet&) = delete;
  LiveSet& operator=(const LiveSet&) = delete;

  void set_max_entries(size_t max_entries) { max_entries_ = max_entries; }

  // Adds `allocation`, or replaces the one of its address and allocator. False
  // when the set is full or memory is short.
  bool Insert(const LiveAllocation& allocation) noexcept;

  // Takes the allocation out into *erased (if not null). False if there is
  // none.
  bool Erase(uint64_t address, AllocatorId allocator,
             LiveAllocation* erased) noexcept;

  // Takes out all of an allocator.
  void EraseAllOf(AllocatorId allocator) noexcept;

  bool Contains(uint64_t address, AllocatorId allocator) const noexcept;

  void Clear() noexcept;

  size_t size() const { return size_; }

  // Calls visit(const LiveAllocation&) for each, in no order.
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (size_t i = 0; i < capacity_; ++i) {
      if (entries_[i].address != 0) visit(entries_[i]);
    }
  }

 private:
  size_t Home(uint64_t address) const {
    return HashAddress(address) & (capacity_ - 1);
  }
  bool Grow() noexcept;

  LiveAllocation* entries_ = nullptr;
  size_t capacity_ = 0;  // 0 or a power of two
  size_t size_ = 0;
  size_t max_entries_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_LIVE_SET_H_
