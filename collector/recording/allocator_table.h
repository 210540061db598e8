// AllocatorTable: the allocators that are there, and those gone of which events
// may still be kept. A few per process; finding one takes no lock.
//
//   Add ─▶ a slot ──Forget─▶ not found any more ──Release─▶ to be had again
//                            (its destructor runs)          once no event of
//                                                           it is kept
//
// A hook that has found an allocator may use its AllocatorInfo for as long as
// the allocator is in use by TensorFlow: a slot is taken again only after the
// destructor has ended. Everybody else gets copies, by Describe().
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_TABLE_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_TABLE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
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
  // As CUDA numbers it; several logical devices can lie on one. -1: not known.
  int cuda_device = -1;
  // Nothing was allocated from it before the collector saw it: its live set is
  // complete.
  bool complete = false;
  // The collector learns of its end, so that it may be asked at any time.
  bool end_is_seen = false;
  // Its memory is the host's.
  bool in_host_memory = false;
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
      if (addresses_[i].load(std::memory_order_acquire) == address) {
        return &infos_[i];
      }
    }
    return nullptr;
  }

  // Adds an allocator with all but id and instance filled in, or returns the
  // one that another thread has just added. `kept_from` is the sequence of the
  // oldest event that is still kept: a slot released before it is taken again.
  // Null when the table is full.
  const AllocatorInfo* Add(const void* address, AllocatorInfo info,
                           uint64_t kept_from = 0);

  // The object is about to go; another may come to lie at its address. Waits
  // for those who ask an allocator right now.
  void Forget(const void* address);

  // While one of these lives no allocator goes: what address() returns may be
  // asked, whatever locks that takes.
  std::shared_lock<std::shared_mutex> KeepAll() const {
    return std::shared_lock<std::shared_mutex>(end_mutex_);
  }

  // No further events of a forgotten allocator follow after this sequence.
  void Release(AllocatorId id, uint64_t sequence);

  // Whether an allocator that is not known need not be added, because there was
  // no room lately; counts its request. Now and then it is to be tried again.
  bool TurnsAway() noexcept;
  // How many requests were of allocators without room.
  uint64_t unknown() const { return unknown_.load(std::memory_order_relaxed); }

  // Says which device the allocator at `address` serves, which may not be known
  // yet, or already; `cuda_device` as AllocatorInfo has it.
  void NameDevice(const void* address, std::string device_name,
                  int cuda_device = -1);

  size_t size() const { return count_.load(std::memory_order_acquire); }
  // A copy as it is now.
  AllocatorInfo Describe(size_t i) const;
  // Null if it is gone.
  void* address(size_t i) const {
    return const_cast<void*>(addresses_[i].load(std::memory_order_acquire));
  }

  // fork() waits for those who ask an allocator right now: the child would find
  // that one's own lock taken for ever.
  void BeforeFork() {
    end_mutex_.lock();
    mutex_.lock();
  }
  void AfterFork() {
    mutex_.unlock();
    end_mutex_.unlock();
  }
  // After that: who waited for the lock is counted in it, but not there.
  void AfterForkInChild() { new (&end_mutex_) std::shared_mutex; }

 private:
  std::array<std::atomic<const void*>, kMaxAllocators> addresses_ = {};
  std::array<AllocatorInfo, kMaxAllocators> infos_;
  std::atomic<size_t> count_{0};
  mutable std::shared_mutex end_mutex_;
  // The last one that was to be added found no room.
  std::atomic<bool> full_{false};
  std::atomic<uint64_t> unknown_{0};
  mutable std::mutex mutex_;
  // When it was released; 0: it was not.
  std::array<uint64_t, kMaxAllocators> released_at_ = {};
  // How many there were of each name.
  std::map<std::string, int> instances_;
  struct NamedDevice {
    const void* allocator;
    std::string name;
    int cuda_device;
  };
  // The devices of allocators that are not known yet.
  std::vector<NamedDevice> named_devices_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_TABLE_H_
