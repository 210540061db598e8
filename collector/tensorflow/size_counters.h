// SizeCounters: how much is in use, for allocators that keep no statistics.
// Written from any thread, without a lock.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_SIZE_COUNTERS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_SIZE_COUNTERS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "collector/recording/allocator_statistics.h"

namespace oom_forensics::collector {

// One line of the cache, apart from what only readers share.
class alignas(64) SizeCounters {
 public:
  void Add(uint64_t num_bytes) noexcept {
    const auto bytes = static_cast<int64_t>(num_bytes);
    allocations_.fetch_add(1, kRelaxed);
    RaiseTo(&largest_bytes_, bytes);
    RaiseTo(&peak_bytes_, in_use_bytes_.fetch_add(bytes, kRelaxed) + bytes);
  }

  void Remove(uint64_t num_bytes) noexcept {
    in_use_bytes_.fetch_sub(static_cast<int64_t>(num_bytes), kRelaxed);
  }

  // Nothing was counted yet. No one else may be at work.
  void Clear() noexcept {
    allocations_ = 0;
    in_use_bytes_ = peak_bytes_ = largest_bytes_ = 0;
  }

  // None before the first allocation.
  std::optional<AllocatorStatistics> Read() const {
    AllocatorStatistics statistics;
    statistics.num_allocs = allocations_.load(kRelaxed);
    if (statistics.num_allocs == 0) return std::nullopt;
    statistics.bytes_in_use = Bytes(in_use_bytes_);
    statistics.peak_bytes_in_use = Bytes(peak_bytes_);
    statistics.largest_alloc_bytes = Bytes(largest_bytes_);
    return statistics;
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  static void RaiseTo(std::atomic<int64_t>* highest, int64_t value) {
    int64_t known = highest->load(kRelaxed);
    while (value > known && !highest->compare_exchange_weak(known, value)) {
    }
  }

  static uint64_t Bytes(const std::atomic<int64_t>& counter) {
    return static_cast<uint64_t>(std::max<int64_t>(0, counter.load(kRelaxed)));
  }

  std::atomic<uint64_t> allocations_{0};
  std::atomic<int64_t> in_use_bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
  std::atomic<int64_t> largest_bytes_{0};
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_SIZE_COUNTERS_H_
