#include "collector/library/hook_set.h"

#include <utility>

namespace oom_forensics::collector {

void HookSet::Add(const VTable& vtable, size_t slot, void* replacement) {
  slots_.push_back({vtable, slot, replacement});
}

bool HookSet::SetActive(bool active) {
  if (active == !patches_.empty()) return true;
  if (!active) {
    patches_.clear();
    return true;
  }
  for (const Slot& slot : slots_) {
    auto patch = VTablePatch::Install(slot.vtable, slot.slot, slot.replacement);
    if (!patch) {
      patches_.clear();
      return false;
    }
    patches_.push_back(std::move(*patch));
  }
  return true;
}

}  // namespace oom_forensics::collector
