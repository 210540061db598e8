#include "collector/recording/live_set.h"

#include <cstdlib>

namespace oom_forensics::collector {
namespace {
constexpr size_t kFirstCapacity = 64;
}  // namespace

LiveSet::~LiveSet() { std::free(entries_); }

bool LiveSet::Insert(const LiveAllocation& allocation) noexcept {
  // At most three quarters full: a probe then ends after a few entries.
  if ((size_ + 1) * 4 > capacity_ * 3 && !Grow()) return false;
  size_t i = Home(allocation.address);
  while (entries_[i].address != 0) {
    if (entries_[i].address == allocation.address &&
        entries_[i].allocator == allocation.allocator) {
      entries_[i] = allocation;
      return true;
    }
    i = (i + 1) & (capacity_ - 1);
  }
  if (size_ >= max_entries_) return false;
  entries_[i] = allocation;
  ++size_;
  return true;
}

bool LiveSet::Erase(uint64_t address, AllocatorId allocator,
                    LiveAllocation* erased) noexcept {
  if (size_ == 0) return false;
  const size_t mask = capacity_ - 1;
  size_t hole = Home(address);
  while (entries_[hole].address != address ||
         entries_[hole].allocator != allocator) {
    if (entries_[hole].address == 0) return false;
    hole = (hole + 1) & mask;
  }
  if (erased != nullptr) *erased = entries_[hole];
  // Move back every successor that may not stand behind a hole: one whose home
  // does not lie between the hole and itself.
  for (size_t i = (hole + 1) & mask; entries_[i].address != 0;
       i = (i + 1) & mask) {
    const size_t home = Home(entries_[i].address);
    if (((i - home) & mask) >= ((i - hole) & mask)) {
      entries_[hole] = entries_[i];
      hole = i;
    }
  }
  entries_[hole].address = 0;
  --size_;
  return true;
}

void LiveSet::EraseAllOf(AllocatorId allocator) noexcept {
  for (size_t i = 0; i < capacity_; ++i) {
    // Another may move into its place, which then is looked at, too.
    while (entries_[i].address != 0 && entries_[i].allocator == allocator) {
      Erase(entries_[i].address, allocator, nullptr);
    }
  }
}

bool LiveSet::Contains(uint64_t address, AllocatorId allocator) const noexcept {
  if (size_ == 0) return false;
  for (size_t i = Home(address); entries_[i].address != 0;
       i = (i + 1) & (capacity_ - 1)) {
    if (entries_[i].address == address && entries_[i].allocator == allocator) {
      return true;
    }
  }
  return false;
}

void LiveSet::Clear() noexcept {
  std::free(entries_);
  entries_ = nullptr;
  capacity_ = 0;
  size_ = 0;
}

bool LiveSet::Grow() noexcept {
  const size_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_ * 2;
  auto* entries = static_cast<LiveAllocation*>(
      std::calloc(capacity, sizeof(LiveAllocation)));
  // Without memory for a larger table the old one can still fill up to its
  // last but one entry; that one ends the probes.
  if (entries == nullptr) return size_ + 2 <= capacity_;
  for (size_t i = 0; i < capacity_; ++i) {
    if (entries_[i].address == 0) continue;
    size_t place = HashAddress(entries_[i].address) & (capacity - 1);
    while (entries[place].address != 0) place = (place + 1) & (capacity - 1);
    entries[place] = entries_[i];
  }
  std::free(entries_);
  entries_ = entries;
  capacity_ = capacity;
  return true;
}

}  // namespace oom_forensics::collector
