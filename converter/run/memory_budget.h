// What the hosts of a run may take together: those that are in memory, and
// those that are being read.
//
// How much a trace needs is known only when it has been read; until then it
// counts by an estimate. A host that does not fit makes those go that are held
// and not in use, and waits until those that are read now are done; one that is
// alone may take all that is left.
#ifndef OOM_FORENSICS_CONVERTER_RUN_MEMORY_BUDGET_H_
#define OOM_FORENSICS_CONVERTER_RUN_MEMORY_BUDGET_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "absl/status/status.h"

namespace oom_forensics {

// The sentence for work that the system gave no memory for (std::bad_alloc).
absl::Status NoMemoryLeft();

class MemoryBudget {
 public:
  // Lets go of at least so many bytes of what is held, if it can; returns how
  // many it did let go of. Called with the budget locked: must not call it.
  using LetGo = std::function<uint64_t(uint64_t bytes)>;

  // limit_bytes 0: no limit.
  MemoryBudget(uint64_t limit_bytes, LetGo let_go)
      : limit_bytes_(limit_bytes), let_go_(std::move(let_go)) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  uint64_t limit_bytes() const { return limit_bytes_; }

  // Waits until there is room for the estimate, or nobody else has any
  // reserved. Returns the room, which is what may really be taken; 0: no limit.
  uint64_t Reserve(uint64_t estimate_bytes);

  // Puts what is really held in the place of the estimate, and makes others go
  // where that is more than there was room for.
  void Settle(uint64_t estimate_bytes, uint64_t held_bytes);

  // What is held takes more, or less, than before. Makes others go where that
  // is more than there was room for; false where even so it is too much.
  bool Adjust(uint64_t before_bytes, uint64_t now_bytes);

 private:
  // With mutex_ held.
  uint64_t RoomBytes() const;
  void MakeRoom(uint64_t bytes);

  const uint64_t limit_bytes_;
  const LetGo let_go_;
  // From the standard library: the thread sanitizer understands it, but not the
  // system's Abseil, which is built without it.
  std::mutex mutex_;
  std::condition_variable settled_;
  uint64_t held_bytes_ = 0;
  uint64_t reserved_bytes_ = 0;
  uint64_t in_flight_ = 0;
};

// Room that is reserved until it is known what is held; where nothing came of
// it, until it goes.
class Reservation {
 public:
  Reservation(MemoryBudget* budget, uint64_t estimate_bytes)
      : budget_(*budget),
        estimate_bytes_(estimate_bytes),
        room_bytes_(budget->Reserve(estimate_bytes)) {}
  ~Reservation() { budget_.Settle(estimate_bytes_, held_bytes_); }
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  // What may be taken; 0: no limit.
  uint64_t room_bytes() const { return room_bytes_; }
  void set_held_bytes(uint64_t bytes) { held_bytes_ = bytes; }

 private:
  MemoryBudget& budget_;
  const uint64_t estimate_bytes_;
  const uint64_t room_bytes_;
  uint64_t held_bytes_ = 0;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_MEMORY_BUDGET_H_
