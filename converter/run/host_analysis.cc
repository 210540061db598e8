#include "converter/run/host_analysis.h"

#include <utility>

namespace oom_forensics {

HostAnalysis::HostAnalysis(std::unique_ptr<const HostTrace> trace)
    : host_{std::move(trace), {}} {
  host_.allocators.reserve(host_.trace->allocators.size());
  for (const AllocatorTrace& allocator : host_.trace->allocators) {
    host_.allocators.push_back(
        std::make_unique<AllocatorReplay>(*host_.trace, allocator));
  }
}

const RoleClassifier& HostAnalysis::Roles(const AllocatorReplay& replay) const {
  const absl::MutexLock lock(&mutex_);
  std::unique_ptr<const RoleClassifier>& roles = roles_[&replay];
  if (roles == nullptr) roles = std::make_unique<const RoleClassifier>(replay);
  return *roles;
}

void HostAnalysis::DropAnswers() const {
  cache_.Clear();
  oom_cache_.Clear();
}

uint64_t HostAnalysis::ResidentBytes() const {
  uint64_t bytes = cache_.ResidentBytes() + oom_cache_.ResidentBytes();
  for (const auto& allocator : host_.allocators) {
    bytes += allocator->ResidentBytes() + allocator->trace().ResidentBytes();
  }
  for (const CompiledModule& module : trace().modules) {
    bytes += module.ResidentBytes();
  }
  return bytes;
}

}  // namespace oom_forensics
