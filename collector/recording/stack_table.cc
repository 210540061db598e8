#include "collector/recording/stack_table.h"

#include <sched.h>

#include <functional>
#include <mutex>

namespace oom_forensics::collector {
namespace {

// A busy holder is done within microseconds, unless it was preempted; then it
// gets the processor.
constexpr int kTriesBeforeYield = 100;
constexpr int kTries = 600;

bool LockSoon(SpinLock* lock) {
  for (int i = 0; i < kTries; ++i) {
    if (lock->try_lock()) return true;
    if (i >= kTriesBeforeYield) sched_yield();
  }
  return false;
}

bool Same(const StackFrames& a, const StackFrames& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].line != b[i].line || a[i].is_library != b[i].is_library ||
        a[i].function != b[i].function || a[i].file != b[i].file) {
      return false;
    }
  }
  return true;
}

}  // namespace

StackTable::StackTable(size_t max_stacks, size_t max_bytes)
    : max_stacks_(max_stacks), max_bytes_(max_bytes) {}

uint64_t StackTable::HashOf(const StackFrames& frames) noexcept {
  const std::hash<std::string_view> hash_text;
  uint64_t hash = frames.size();
  for (const StackFrame& frame : frames) {
    hash = hash * 0x9e3779b97f4a7c15u + hash_text(frame.file);
    hash = hash * 0x9e3779b97f4a7c15u + hash_text(frame.function);
    hash = hash * 0x9e3779b97f4a7c15u + static_cast<uint32_t>(frame.line);
  }
  return hash;
}

StackId StackTable::Find(const StackFrames& frames, uint64_t hash) const {
  const auto [begin, end] = ids_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    if (Same(stacks_[it->second - 1], frames)) return it->second;
  }
  return 0;
}

StackId StackTable::Intern(const StackFrames& frames) {
  const uint64_t hash = HashOf(frames);
  if (!LockSoon(&lock_)) return 0;
  const std::lock_guard<SpinLock> lock(lock_, std::adopt_lock);
  if (const StackId known = Find(frames, hash); known != 0) return known;
  if (stacks_.size() >= max_stacks_ || bytes_ >= max_bytes_) {
    full_ = true;
    return 0;
  }
  StackFrames kept = frames;
  for (StackFrame& frame : kept) {
    frame.file = InternText(frame.file);
    frame.function = InternText(frame.function);
  }
  const auto id = static_cast<StackId>(stacks_.size() + 1);
  const auto known = ids_.emplace(hash, id);
  try {
    stacks_.push_back(std::move(kept));
  } catch (...) {
    ids_.erase(known);
    throw;
  }
  bytes_ += sizeof(StackFrames) + frames.size() * sizeof(StackFrame) + 64;
  return id;
}

std::string_view StackTable::InternText(std::string_view text) {
  const auto [kept, is_new] = texts_.emplace(text);
  if (is_new) bytes_ += text.size() + 64;
  return *kept;
}

std::vector<const StackFrames*> StackTable::Snapshot() const {
  std::lock_guard<SpinLock> lock(lock_);
  std::vector<const StackFrames*> stacks;
  stacks.reserve(stacks_.size());
  for (const StackFrames& frames : stacks_) stacks.push_back(&frames);
  return stacks;
}

}  // namespace oom_forensics::collector
