#include "collector/recording/allocator_table.h"

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
  infos_[count] = std::move(info);
  addresses_[count].store(address, std::memory_order_relaxed);
  count_.store(count + 1, std::memory_order_release);
  return &infos_[count];
}

void AllocatorTable::Forget(const void* address) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (std::atomic<const void*>& known : addresses_) {
    if (known.load(std::memory_order_relaxed) == address) {
      known.store(nullptr, std::memory_order_relaxed);
    }
  }
}

}  // namespace oom_forensics::collector
