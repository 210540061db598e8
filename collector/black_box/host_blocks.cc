#include "collector/black_box/host_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "collector/black_box/touched_memory.h"
#include "collector/no_throw.h"
#include "collector/recording/clock.h"
#include "collector/recording/thread_state.h"

namespace oom_forensics::collector {
namespace {

using black_box::Block;
using black_box::Box;
using black_box::Owner;

// The most frames of a stack that are kept.
constexpr size_t kMaxFrames = 12;
constexpr uint8_t kFilterFull = 255;

// How many blocks like it one stands for that was drawn, in thousandths.
uint32_t WeightOf(size_t bytes) {
  if (bytes >= kLargeHostBlockBytes) return 1000;
  const double chance =
      -std::expm1(-static_cast<double>(std::max<size_t>(1, bytes)) /
                  static_cast<double>(kHostSamplingBytes));
  return static_cast<uint32_t>(std::min(4e9, 1000 / chance));
}

int64_t EstimatedBytes(const Block& block) {
  return static_cast<int64_t>(static_cast<double>(block.bytes) *
                              block.weight_thousandths / 1000);
}

}  // namespace

// A thread's first block is not drawn for that.
__thread int64_t HostBlocks::until_draw_ = kHostSamplingBytes / 2;

bool HostBlocks::DrawAgain() noexcept {
  // xorshift64*; see Recorder::Keeps().
  uint64_t& random = CurrentThread().random;
  random ^= random >> 12;
  random ^= random << 25;
  random ^= random >> 27;
  const double uniform =
      static_cast<double>((random * 0x2545f4914f6cdd1du >> 11) + 1) * 0x1p-53;
  until_draw_ = static_cast<int64_t>(-std::log(uniform) *
                                     static_cast<double>(kHostSamplingBytes));
  return true;
}

void HostBlocks::Begin(Box* box) {
  box->header.sampling_bytes = kHostSamplingBytes;
  box_.store(box, std::memory_order_release);
}

uint64_t HostBlocks::BytesOf(Owner owner) const noexcept {
  const int64_t bytes = bytes_[static_cast<size_t>(owner)].load();
  return static_cast<uint64_t>(std::max<int64_t>(0, bytes));
}

template <typename Write>
uint32_t HostBlocks::SiteOf(Owner owner, uint64_t key, int32_t dtype,
                            Write write) noexcept {
  Box* const box = box_.load(std::memory_order_acquire);
  uint32_t site = black_box::kMaxSites;
  if (box == nullptr) return site;
  NoThrow([&] {
    const std::lock_guard<std::mutex> lock(sites_mutex_);
    const auto [known, is_new] =
        sites_.emplace(key << 2 | static_cast<uint64_t>(owner), site);
    if (!is_new) {
      site = known->second;
      return;
    }
    std::string text;
    write(&text);
    const uint32_t count = box->header.site_count;
    const uint32_t begin = box->header.text_bytes;
    if (count >= black_box::kMaxSites ||
        text.size() > black_box::kTextBytes - begin) {
      ++box->header.lost_sites;
      return;
    }
    std::memcpy(box->texts + begin, text.data(), text.size());
    box->sites[count] = {begin, static_cast<uint32_t>(text.size()), owner,
                         dtype};
    box->header.text_bytes = begin + static_cast<uint32_t>(text.size());
    box->header.site_count = count + 1;
    site = known->second = count;
  });
  return site;
}

void HostBlocks::AppendFrames(StackId stack, std::string* text) const {
  const StackFrames* const frames = stacks_->At(stack);
  if (frames == nullptr) return;
  const size_t count = std::min(kMaxFrames, frames->size());
  for (size_t i = 0; i < count; ++i) {
    const StackFrame& frame = (*frames)[i];
    *text += frame.is_library ? "\nl" : "\nu";
    *text += std::to_string(frame.line);
    *text += '\t';
    text->append(frame.function);
    *text += '\t';
    text->append(frame.file);
  }
}

void HostBlocks::AddNative(Owner owner, const void* address, size_t bytes,
                           StackId stack) noexcept {
  Add(address, bytes, SiteOf(owner, stack, 0, [&](std::string* text) {
        *text = owner == Owner::kPython ? "Python's objects"
                                        : "NumPy or another library";
        *text += '\t';
        AppendFrames(stack, text);
      }));
}

void HostBlocks::AddTensor(const void* address, size_t bytes,
                           const Site& site) noexcept {
  const SiteKey& key = site.key;
  Add(address, bytes,
      SiteOf(Owner::kTensorFlow, site.id, key.dtype, [&](std::string* text) {
        text->append(key.op);
        *text += '\t';
        text->append(key.shape);
        AppendFrames(key.stack, text);
      }));
}

void HostBlocks::Count(const Box& box, const Block& block, int sign) noexcept {
  const auto owner = static_cast<size_t>(box.sites[block.site].owner);
  bytes_[owner].fetch_add(sign * EstimatedBytes(block),
                          std::memory_order_relaxed);
}

void HostBlocks::Add(const void* address, size_t bytes,
                     uint32_t site) noexcept {
  Box* const box = box_.load(std::memory_order_acquire);
  if (box == nullptr || address == nullptr) return;
  if (site >= black_box::kMaxSites) {
    ++box->header.lost_blocks;
    return;
  }
  const auto number = reinterpret_cast<uint64_t>(address);
  const size_t bucket = BucketOf(address);
  const std::lock_guard<SpinLock> lock(locks_[bucket]);
  // One that was here before ended where nobody saw it.
  Erase(box, bucket, number);
  Block* const blocks = box->blocks + bucket * kBucketBlocks;
  Block* const end = blocks + kBucketBlocks;
  Block* const free = std::find_if(blocks, end, [](const Block& block) {
    return block.address.load(std::memory_order_relaxed) == 0;
  });
  if (free == end) {
    ++box->header.lost_blocks;
    return;
  }
  free->bytes = bytes;
  free->born_ns = WallClockNs();
  free->site = site;
  free->weight_thousandths = WeightOf(bytes);
  free->address.store(number, std::memory_order_release);
  Count(*box, *free, 1);
  std::atomic<uint8_t>& filter = filter_[FilterIndex(address)];
  // One that is full stays so.
  uint8_t known = filter.load(std::memory_order_relaxed);
  while (known != kFilterFull && !filter.compare_exchange_weak(
                                     known, static_cast<uint8_t>(known + 1))) {
  }
}

bool HostBlocks::Erase(Box* box, size_t bucket, uint64_t address) noexcept {
  Block* const blocks = box->blocks + bucket * kBucketBlocks;
  for (Block* block = blocks; block != blocks + kBucketBlocks; ++block) {
    if (block->address.load(std::memory_order_relaxed) != address) continue;
    block->address.store(0, std::memory_order_relaxed);
    Count(*box, *block, -1);
    std::atomic<uint8_t>& filter =
        filter_[FilterIndex(reinterpret_cast<const void*>(address))];
    uint8_t known = filter.load(std::memory_order_relaxed);
    while (
        known != kFilterFull && known != 0 &&
        !filter.compare_exchange_weak(known, static_cast<uint8_t>(known - 1))) {
    }
    return true;
  }
  return false;
}

void HostBlocks::RemoveKnown(const void* address) noexcept {
  Box* const box = box_.load(std::memory_order_acquire);
  if (box == nullptr) return;
  const size_t bucket = BucketOf(address);
  const std::lock_guard<SpinLock> lock(locks_[bucket]);
  Erase(box, bucket, reinterpret_cast<uint64_t>(address));
}

std::array<uint64_t, kHostOwners> HostBlocks::Untouched(
    const std::vector<Region>& regions) noexcept {
  std::array<uint64_t, kHostOwners> untouched = {};
  const Box* const box = box_.load(std::memory_order_acquire);
  if (box == nullptr) return untouched;
  struct Large {
    uint64_t address;
    uint64_t bytes;
    Owner owner;
  };
  std::array<Large, kBucketBlocks> large;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    size_t count = 0;
    {
      const std::lock_guard<SpinLock> lock(locks_[bucket]);
      const Block* const blocks = box->blocks + bucket * kBucketBlocks;
      for (const Block* block = blocks; block != blocks + kBucketBlocks;
           ++block) {
        const uint64_t address = block->address.load(std::memory_order_relaxed);
        if (address != 0 && block->bytes >= kLeastUntouchedBytes) {
          large[count++] = {address, block->bytes,
                            box->sites[block->site].owner};
        }
      }
    }
    for (size_t i = 0; i < count; ++i) {
      const bool is_of_a_pool = std::any_of(
          regions.begin(), regions.end(), [&](const Region& region) {
            return large[i].address - region.address < region.size_bytes;
          });
      if (is_of_a_pool) continue;
      untouched[static_cast<size_t>(large[i].owner)] +=
          UntouchedBytes(large[i].address, large[i].bytes);
    }
  }
  return untouched;
}

void HostBlocks::AfterForkInChild() noexcept {
  box_.store(nullptr, std::memory_order_release);
  new (&sites_mutex_) std::mutex;
  for (SpinLock& lock : locks_) lock.unlock();
}

}  // namespace oom_forensics::collector
