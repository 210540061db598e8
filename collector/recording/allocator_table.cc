#include "collector/recording/allocator_table.h"

#include <algorithm>
#include <utility>

namespace oom_forensics::collector {

const AllocatorInfo* AllocatorTable::Add(const void* address,
                                         AllocatorInfo info) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const AllocatorInfo* known = Find(address)) return known;
  const size_t count = count_.load(std::memory_order_relaxed);
  if (count == kMaxAllocators) return nullptr;
  info.id = static_cast<AllocatorId>(count);
  for (size_t i = 0; i < count; ++i) {
    if (infos_[i].name == info.name) ++info.instance;
  }
  for (const auto& [named, device_name] : device_names_) {
    if (named == address) info.device_name = device_name;
  }
  infos_[count] = std::move(info);
  addresses_[count].store(address, std::memory_order_relaxed);
  count_.store(count + 1, std::memory_order_release);
  return &infos_[count];
}

void AllocatorTable::Forget(const void* address) {
  const std::unique_lock<std::shared_mutex> nobody_asks(end_mutex_);
  std::lock_guard<std::mutex> lock(mutex_);
  for (std::atomic<const void*>& known : addresses_) {
    if (known.load(std::memory_order_relaxed) == address) {
      known.store(nullptr, std::memory_order_relaxed);
    }
  }
  device_names_.erase(std::remove_if(device_names_.begin(), device_names_.end(),
                                     [address](const auto& named) {
                                       return named.first == address;
                                     }),
                      device_names_.end());
}

void AllocatorTable::NameDevice(const void* address, std::string device_name) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < size(); ++i) {
    if (addresses_[i].load(std::memory_order_relaxed) == address) {
      infos_[i].device_name = std::move(device_name);
      return;
    }
  }
  device_names_.emplace_back(address, std::move(device_name));
}

AllocatorInfo AllocatorTable::Describe(size_t i) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return infos_[i];
}

}  // namespace oom_forensics::collector
