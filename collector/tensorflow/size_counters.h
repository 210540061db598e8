// SizeCounters: how much is in use, for allocators that keep no statistics.
// Written from any thread, without a lock.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_SIZE_COUNTERS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_SIZE_COUNTERS_H_

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "collector/recording/allocator_statistics.h"
#include "collector/recording/cache_line.h"

namespace oom_forensics::collector {

// Threads write to lines of the cache of their own, and to one that all share
// only when much has come together: the peak is exact to 1 MiB.
class SizeCounters {
 public:
  void Add(uint64_t num_bytes) noexcept {
    const auto bytes = static_cast<int64_t>(num_bytes);
    Share& share = ShareOfThread();
    share.allocations.fetch_add(1, kRelaxed);
    RaiseTo(&largest_bytes_, bytes);
    Move(&share, bytes);
  }

  void Remove(uint64_t num_bytes) noexcept {
    Move(&ShareOfThread(), -static_cast<int64_t>(num_bytes));
  }

  // Nothing was counted yet. No one else may be at work.
  void Clear() noexcept {
    for (Share& share : shares_) share.allocations = share.bytes = 0;
    in_use_bytes_ = peak_bytes_ = largest_bytes_ = 0;
  }

  // None before the first allocation.
  std::optional<AllocatorStatistics> Read() const {
    AllocatorStatistics statistics;
    int64_t in_use_bytes = in_use_bytes_.load(kRelaxed);
    for (const Share& share : shares_) {
      statistics.num_allocs += share.allocations.load(kRelaxed);
      in_use_bytes += share.bytes.load(kRelaxed);
    }
    if (statistics.num_allocs == 0) return std::nullopt;
    statistics.bytes_in_use =
        static_cast<uint64_t>(std::max<int64_t>(0, in_use_bytes));
    statistics.peak_bytes_in_use =
        std::max(statistics.bytes_in_use,
                 static_cast<uint64_t>(peak_bytes_.load(kRelaxed)));
    statistics.largest_alloc_bytes =
        static_cast<uint64_t>(largest_bytes_.load(kRelaxed));
    return statistics;
  }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static constexpr size_t kShares = 16;
  // What a thread may keep to itself.
  static constexpr int64_t kMostBytes = 64 << 10;

  struct alignas(kCacheLineBytes) Share {
    std::atomic<uint64_t> allocations{0};
    // In use, and not in in_use_bytes_ yet.
    std::atomic<int64_t> bytes{0};
  };

  Share& ShareOfThread() noexcept {
    static std::atomic<size_t> threads{0};
    static thread_local const size_t number =
        threads.fetch_add(1, kRelaxed) % kShares;
    return shares_[number];
  }

  void Move(Share* share, int64_t bytes) noexcept {
    const int64_t kept = share->bytes.fetch_add(bytes, kRelaxed) + bytes;
    if (kept < kMostBytes && kept > -kMostBytes) return;
    const int64_t moved = share->bytes.exchange(0, kRelaxed);
    RaiseTo(&peak_bytes_, in_use_bytes_.fetch_add(moved, kRelaxed) + moved);
  }

  static void RaiseTo(std::atomic<int64_t>* highest, int64_t value) {
    int64_t known = highest->load(kRelaxed);
    while (value > known && !highest->compare_exchange_weak(known, value)) {
    }
  }

  std::array<Share, kShares> shares_;
  alignas(kCacheLineBytes) std::atomic<int64_t> in_use_bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
  std::atomic<int64_t> largest_bytes_{0};
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_SIZE_COUNTERS_H_
