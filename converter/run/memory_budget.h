// What the hosts that are being read may take together.
//
// How much a trace needs is known only when it has been read; until then it
// counts by an estimate. A host that does not fit waits until those before it
// are done; one that is alone may take all that is left.
#ifndef OOM_FORENSICS_CONVERTER_RUN_MEMORY_BUDGET_H_
#define OOM_FORENSICS_CONVERTER_RUN_MEMORY_BUDGET_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace oom_forensics {

class MemoryBudget {
 public:
  // 0: no limit.
  explicit MemoryBudget(uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  // Waits until there is room for the estimate, or nobody else has any
  // reserved. Returns the room, which is what may really be taken; 0: no limit.
  uint64_t Reserve(uint64_t estimate_bytes);

  // Puts what is really held in the place of the estimate.
  void Settle(uint64_t estimate_bytes, uint64_t held_bytes);

  // Whether what is held is within the limit.
  bool IsKept() const;

 private:
  // With mutex_ held.
  uint64_t RoomBytes() const;

  const uint64_t limit_bytes_;
  // Of the standard library: the thread sanitizer understands it, but not the
  // system's Abseil, which is built without it.
  mutable std::mutex mutex_;
  std::condition_variable settled_;
  uint64_t held_bytes_ = 0;
  uint64_t reserved_bytes_ = 0;
  uint64_t in_flight_ = 0;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_MEMORY_BUDGET_H_
