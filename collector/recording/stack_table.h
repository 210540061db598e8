// StackTable: the Python stacks of allocations, interned. A program has few
// lines that allocate, and each is met again and again; a site only names the
// stack's id.
//
// Memory is capped; what does not fit is counted and has no stack. Nothing
// blocks: the lock is tried for a moment, and a stack that could not be
// interned is met again at the next allocation.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_STACK_TABLE_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_STACK_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "collector/recording/event.h"
#include "collector/recording/spin_lock.h"

namespace oom_forensics::collector {

// A function that is being run, and where in it.
struct StackFrame {
  std::string_view file;
  std::string_view function;
  // 0: not known.
  int32_t line = 0;
  // Of Python's library or an installed package, not the user's.
  bool is_library = false;
};

// Innermost first.
using StackFrames = std::vector<StackFrame>;

class StackTable {
 public:
  // Keeps at most so many stacks, and about so many bytes of them.
  explicit StackTable(size_t max_stacks = size_t{1} << 16,
                      size_t max_bytes = size_t{32} << 20);
  StackTable(const StackTable&) = delete;
  StackTable& operator=(const StackTable&) = delete;

  // The id of the stack of these frames, from 1; 0 when the table is full or
  // was busy. May throw bad_alloc; nothing has changed then.
  StackId Intern(const StackFrames& frames);

  // No new stack will be kept.
  bool IsFull() const noexcept { return full_; }

  // Counts an allocation whose stack could not be kept.
  void CountDropped() noexcept { ++dropped_; }
  uint64_t dropped() const noexcept { return dropped_; }

  // All stacks so far; the one with id N is at [N - 1]. Their texts live as
  // long as the table.
  std::vector<const StackFrames*> Snapshot() const;

  // One of them; null where there is none of that id.
  const StackFrames* At(StackId id) const {
    const std::lock_guard<SpinLock> lock(lock_);
    return id == 0 || id > stacks_.size() ? nullptr : &stacks_[id - 1];
  }

  // Held over fork(), so that the child finds the table whole.
  SpinLock& lock() { return lock_; }

 private:
  static uint64_t HashOf(const StackFrames& frames) noexcept;
  StackId Find(const StackFrames& frames, uint64_t hash) const;
  std::string_view InternText(std::string_view text);

  const size_t max_stacks_;
  const size_t max_bytes_;
  mutable SpinLock lock_;
  // Guarded by lock_; elements never move.
  std::deque<StackFrames> stacks_;
  std::unordered_multimap<uint64_t, StackId> ids_;
  std::unordered_set<std::string> texts_;
  size_t bytes_ = 0;
  std::atomic<bool> full_{false};
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_STACK_TABLE_H_
