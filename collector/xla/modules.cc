#include "collector/xla/modules.h"

#include <memory>
#include <mutex>
#include <utility>

namespace oom_forensics::collector {

void XlaModules::Add(const void* address, XlaModule module) {
  const auto added = std::make_shared<const XlaModule>(std::move(module));
  // What was there before goes without the lock.
  auto entry = added;
  uint64_t alive = 0;
  {
    std::unique_lock<std::shared_mutex> lock(mutex_);
    alive_[address].swap(entry);
    for (const auto& [other, known] : alive_) {
      alive += known->function == added->function ? 1 : 0;
    }
  }
  listener_(*added, alive);
}

void XlaModules::Remove(int64_t program_id) noexcept {
  std::unique_lock<std::shared_mutex> lock(mutex_);
  for (auto entry = alive_.begin(); entry != alive_.end(); ++entry) {
    if (entry->second->program_id != program_id) continue;
    alive_.erase(entry);
    return;
  }
}

std::shared_ptr<const XlaModule> XlaModules::Find(
    const void* address) const noexcept {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  const auto found = alive_.find(address);
  return found == alive_.end() ? nullptr : found->second;
}

uint64_t XlaModules::CompileNs(int64_t program_id) const noexcept {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  for (const auto& [address, module] : alive_) {
    if (module->program_id == program_id) return module->compile_ns;
  }
  return 0;
}

uint64_t XlaModules::EstimatedProtoBytes() const noexcept {
  std::shared_lock<std::shared_mutex> lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [address, module] : alive_) {
    bytes += module->estimated_proto_bytes;
  }
  return bytes;
}

}  // namespace oom_forensics::collector
