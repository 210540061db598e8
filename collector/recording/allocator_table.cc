#include "collector/recording/allocator_table.h"

#include <algorithm>
#include <utility>

namespace oom_forensics::collector {
namespace {

// Requests of allocators without room, until room is looked for again.
constexpr uint64_t kTryAgainAfter = 4096;

}  // namespace

const AllocatorInfo* AllocatorTable::Add(const void* address,
                                         AllocatorInfo info,
                                         uint64_t kept_from) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const AllocatorInfo* known = Find(address)) return known;
  const size_t count = count_.load(std::memory_order_relaxed);
  size_t slot = count;
  // New slots first: those of allocators that are gone tell most of what was.
  if (count == kMaxAllocators) {
    const auto released = std::find_if(
        released_at_.begin(), released_at_.end(),
        [kept_from](uint64_t at) { return at != 0 && at < kept_from; });
    if (released == released_at_.end()) {
      full_.store(true, std::memory_order_relaxed);
      unknown_.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    slot = static_cast<size_t>(released - released_at_.begin());
  }
  info.id = static_cast<AllocatorId>(slot);
  // Memory may be too short: before anything is changed.
  info.instance = instances_[info.name]++;
  released_at_[slot] = 0;
  full_.store(false, std::memory_order_relaxed);
  for (const NamedDevice& named : named_devices_) {
    if (named.allocator != address) continue;
    info.device_name = named.name;
    info.cuda_device = named.cuda_device;
  }
  infos_[slot] = std::move(info);
  addresses_[slot].store(address, std::memory_order_release);
  if (slot == count) count_.store(count + 1, std::memory_order_release);
  return &infos_[slot];
}

bool AllocatorTable::TurnsAway() noexcept {
  if (!full_.load(std::memory_order_relaxed)) return false;
  return unknown_.fetch_add(1, std::memory_order_relaxed) % kTryAgainAfter != 0;
}

void AllocatorTable::Release(AllocatorId id, uint64_t sequence) {
  std::lock_guard<std::mutex> lock(mutex_);
  released_at_[id] = sequence;
  full_.store(false, std::memory_order_relaxed);
}

void AllocatorTable::Forget(const void* address) {
  const std::unique_lock<std::shared_mutex> nobody_asks(end_mutex_);
  std::lock_guard<std::mutex> lock(mutex_);
  for (std::atomic<const void*>& known : addresses_) {
    if (known.load(std::memory_order_relaxed) == address) {
      known.store(nullptr, std::memory_order_relaxed);
    }
  }
  named_devices_.erase(
      std::remove_if(named_devices_.begin(), named_devices_.end(),
                     [address](const NamedDevice& named) {
                       return named.allocator == address;
                     }),
      named_devices_.end());
}

void AllocatorTable::NameDevice(const void* address, std::string device_name,
                                int cuda_device) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < size(); ++i) {
    if (addresses_[i].load(std::memory_order_relaxed) == address) {
      infos_[i].device_name = std::move(device_name);
      infos_[i].cuda_device = cuda_device;
      return;
    }
  }
  named_devices_.push_back({address, std::move(device_name), cuda_device});
}

AllocatorInfo AllocatorTable::Describe(size_t i) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return infos_[i];
}

}  // namespace oom_forensics::collector
