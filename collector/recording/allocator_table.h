// AllocatorTable: the allocators seen so far. A few per process; finding one
// takes no lock.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_TABLE_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "collector/recording/event.h"

namespace oom_forensics::collector {

inline constexpr size_t kMaxAllocators = 64;

struct AllocatorInfo {
  AllocatorId id = 0;
  // As the allocator calls itself ("GPU_0_bfc").
  std::string name;
  // Which one of this name, from 0.
  int instance = 0;
  // One of event_schema.h's kAllocatorKind.
  std::string kind;
  // "/device:GPU:0"; empty: not known.
  std::string device_name;
  // Nothing was allocated from it before the collector saw it: its live set is
  // complete.
  bool complete = false;
  // The collector learns of its end, so that it may be asked at any time.
  bool end_is_seen = false;
  // It divides regions into chunks; else each block comes from the driver.
  bool has_layout = true;
  // What it may use at most, as it says itself; 0: not known. Does not change.
  uint64_t limit_bytes = 0;
};

class AllocatorTable {
 public:
  // The allocator object at `address`; null if it is not known.
  const AllocatorInfo* Find(const void* address) const noexcept {
    const size_t count = count_.load(std::memory_order_acquire);
    for (size_t i = 0; i < count; ++i) {
      if (addresses_[i].load(std::memory_order_relaxed) == address) {
        return &infos_[i];
      }
    }
    return nullptr;
  }

  // Adds an allocator with all but id and instance filled in, or returns the
  // one that another thread has just added. Null when the table is full.
  const AllocatorInfo* Add(const void* address, AllocatorInfo info);

  // The object is about to go; another may come to lie at its address. Waits
  // for those who ask an allocator right now.
  void Forget(const void* address);

  // While one of these lives no allocator goes: what address() returns may be
  // asked, whatever locks that takes.
  std::shared_lock<std::shared_mutex> KeepAll() const {
    return std::shared_lock<std::shared_mutex>(end_mutex_);
  }

  // fork(): who held it, if anyone, is in the parent.
  void AfterForkInChild() { new (&end_mutex_) std::shared_mutex; }

  // Says which device the allocator at `address` serves, which may not be known
  // yet, or already.
  void NameDevice(const void* address, std::string device_name);

  size_t size() const { return count_.load(std::memory_order_acquire); }
  // All of it may be read but the name of the device, which can still change.
  const AllocatorInfo& at(size_t i) const { return infos_[i]; }
  // A copy with the name of the device as it is now.
  AllocatorInfo Describe(size_t i) const;
  // Null if it is gone.
  void* address(size_t i) const {
    return const_cast<void*>(addresses_[i].load(std::memory_order_relaxed));
  }

  // Held over fork().
  std::mutex& mutex() { return mutex_; }

 private:
  std::array<std::atomic<const void*>, kMaxAllocators> addresses_ = {};
  std::array<AllocatorInfo, kMaxAllocators> infos_;
  std::atomic<size_t> count_{0};
  mutable std::shared_mutex end_mutex_;
  mutable std::mutex mutex_;
  // Of allocators that are not known yet.
  std::vector<std::pair<const void*, std::string>> device_names_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_TABLE_H_
