// HostBlocks: the live blocks of the host's memory that are not of a pool, and
// who asked for them, kept in the black box itself: what is live when the
// process dies is then on disk. Large blocks are all kept; smaller ones are
// drawn by chance, so that what is kept stands for all (an unbiased estimate).
#ifndef OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_BLOCKS_H_
#define OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_BLOCKS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

#include "collector/recording/event.h"
#include "collector/recording/site_interner.h"
#include "collector/recording/spin_lock.h"
#include "collector/recording/stack_table.h"
#include "core/black_box.h"

namespace oom_forensics::collector {

// Blocks of at least this size are all kept.
inline constexpr size_t kLargeHostBlockBytes = size_t{64} << 10;
// So many owners there are.
inline constexpr size_t kHostOwners = 3;
// One smaller block per this many bytes is sampled, on average.
inline constexpr int64_t kHostSamplingBytes = int64_t{512} << 10;

class HostBlocks {
 public:
  // `stacks` must live as long as the process.
  explicit HostBlocks(const StackTable* stacks) : stacks_(stacks) {}

  // Begins to write to a box.
  void Begin(black_box::Box* box);
  bool is_active() const noexcept {
    return box_.load(std::memory_order_acquire) != nullptr;
  }

  // Whether the calling thread's next request of so many bytes is to be kept.
  static bool Draws(size_t bytes) noexcept {
    if (bytes >= kLargeHostBlockBytes) return true;
    return (until_draw_ -= static_cast<int64_t>(bytes)) < 0 && DrawAgain();
  }

  // A block that is to be kept, of NumPy, another library or Python; by the
  // stack of who asked.
  void AddNative(black_box::Owner owner, const void* address, size_t bytes,
                 StackId stack) noexcept;
  // The same, of TensorFlow's default allocator.
  void AddTensor(const void* address, size_t bytes, const Site& site) noexcept;

  // A block has ended, or is about to.
  void Remove(const void* address) noexcept {
    if (MayKnow(address)) RemoveKnown(address);
  }
  // Whether it may be one that is kept: false, it is not.
  bool MayKnow(const void* address) const noexcept {
    return filter_[FilterIndex(address)].load(std::memory_order_relaxed) != 0;
  }

  // The frames of a stack as a site of the box has them, a line before each.
  void AppendFrames(StackId stack, std::string* text) const;

  // What the live blocks of an owner take.
  uint64_t BytesOf(black_box::Owner owner) const noexcept;
  // The bytes of live blocks that nothing has touched yet, by owner; without
  // those in these regions, which a pool counts itself.
  std::array<uint64_t, kHostOwners> Untouched(
      const std::vector<Region>& regions) noexcept;

  void AfterForkInChild() noexcept;

 private:
  // Blocks are in buckets by their address; a lock for each.
  static constexpr size_t kBucketBlocks = 64;
  static constexpr size_t kBuckets = black_box::kMaxBlocks / kBucketBlocks;
  static constexpr size_t kFilterBits = 17;

  // Whether a small block was drawn; chooses how far the next one is.
  static bool DrawAgain() noexcept;
  static uint64_t Hash(const void* address) noexcept {
    return (reinterpret_cast<uint64_t>(address) >> 4) * 0x9e3779b97f4a7c15u;
  }
  // Page-aligned blocks differ in no low bit; these depend on all of them.
  static size_t BucketOf(const void* address) noexcept {
    return (Hash(address) >> 32) % kBuckets;
  }
  static size_t FilterIndex(const void* address) noexcept {
    return Hash(address) >> (64 - kFilterBits);
  }

  void Add(const void* address, size_t bytes, uint32_t site) noexcept;
  void RemoveKnown(const void* address) noexcept;
  // Takes the block out of its bucket, whose lock is held.
  bool Erase(black_box::Box* box, size_t bucket, uint64_t address) noexcept;
  void Count(const black_box::Box& box, const black_box::Block& block,
             int sign) noexcept;

  // Index of a site in the box; kMaxSites: there is no room for it.
  // `key` is of its owner. Calls write(text) for a new one.
  template <typename Write>
  uint32_t SiteOf(black_box::Owner owner, uint64_t key, int32_t dtype,
                  Write write) noexcept;

  static __thread int64_t until_draw_;

  const StackTable* const stacks_;
  std::atomic<black_box::Box*> box_{nullptr};
  std::array<std::atomic<uint8_t>, size_t{1} << kFilterBits> filter_ = {};
  std::array<SpinLock, kBuckets> locks_;
  std::array<std::atomic<int64_t>, kHostOwners> bytes_ = {};
  std::mutex sites_mutex_;
  // Guarded by sites_mutex_.
  std::unordered_map<uint64_t, uint32_t> sites_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_HOST_BLOCKS_H_
