// StackCache: which interned stack a chain of frames is, by the addresses that
// the walk has met. It spares the hook to read names and line tables again.
//
// A slot is four words that are written and read without a lock. The two that
// tell whose slot it is are stored mixed with the other two, so that a reader
// who meets a slot half written sees it as somebody else's: a miss, never a
// wrong stack. Memory is fixed; a new stack takes the place of an old one.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_STACK_CACHE_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_STACK_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "collector/recording/event.h"

namespace oom_forensics::collector::python {

// Two independent hashes of a chain of frames.
struct StackKey {
  uint64_t a = 0;
  uint64_t b = 0;
};

struct CachedStack {
  StackId stack = 0;
  // A checksum of what the key alone does not tell apart; see StackTaker.
  uint32_t checksum = 0;
  // Bit N: the frame N of the chain takes part in the checksum.
  uint64_t checked_frames = 0;
};

class StackCache {
 public:
  StackCache() : slots_(new Slot[kSlots]) {}

  // False: it is not there.
  bool Find(const StackKey& key, CachedStack* found) const noexcept {
    for (size_t way = 0; way < kWays; ++way) {
      const Slot& slot = slots_[Place(key, way)];
      const uint64_t value = slot.value.load(std::memory_order_relaxed);
      const uint64_t frames = slot.frames.load(std::memory_order_relaxed);
      if ((slot.a.load(std::memory_order_relaxed) ^ value) != key.a ||
          (slot.b.load(std::memory_order_relaxed) ^ frames) != key.b) {
        continue;
      }
      found->stack = static_cast<StackId>(value);
      found->checksum = static_cast<uint32_t>(value >> 32);
      found->checked_frames = frames;
      return found->stack != 0;
    }
    return false;
  }

  void Put(const StackKey& key, const CachedStack& stack) noexcept {
    Slot& slot = slots_[Place(key, WayFor(key))];
    const uint64_t value = uint64_t{stack.checksum} << 32 | stack.stack;
    slot.a.store(0, std::memory_order_relaxed);
    slot.value.store(value, std::memory_order_relaxed);
    slot.frames.store(stack.checked_frames, std::memory_order_relaxed);
    slot.b.store(key.b ^ stack.checked_frames, std::memory_order_relaxed);
    slot.a.store(key.a ^ value, std::memory_order_relaxed);
  }

 private:
  // The slot that is this key's already, or free; else one by chance.
  size_t WayFor(const StackKey& key) const noexcept {
    for (size_t way = 0; way < kWays; ++way) {
      const Slot& slot = slots_[Place(key, way)];
      const uint64_t value = slot.value.load(std::memory_order_relaxed);
      const uint64_t a = slot.a.load(std::memory_order_relaxed) ^ value;
      if (a == key.a || value == 0) return way;
    }
    return key.b % kWays;
  }

  static constexpr size_t kSlots = size_t{1} << 14;
  static constexpr size_t kWays = 4;

  struct Slot {
    std::atomic<uint64_t> a{0};
    std::atomic<uint64_t> b{0};
    std::atomic<uint64_t> value{0};
    std::atomic<uint64_t> frames{0};
  };

  static size_t Place(const StackKey& key, size_t way) noexcept {
    return (key.a & ~uint64_t{kWays - 1} & (kSlots - 1)) | way;
  }

  std::unique_ptr<Slot[]> slots_;
};

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_STACK_CACHE_H_
