#include "collector/library/hook_set.h"

#include <utility>

namespace oom_forensics::collector {

void HookSet::Add(const VTable& vtable, size_t slot, void* replacement) {
  slots_.push_back({vtable, slot, replacement});
}

void HookSet::AddForGood(const VTable& vtable, size_t slot, void* replacement) {
  slots_for_good_.push_back({vtable, slot, replacement});
}

bool HookSet::SetActive(bool active) {
  if (active == !patches_.empty()) return true;
  if (!active) {
    patches_.clear();
    return true;
  }
  if (patches_for_good_.empty() &&
      !Install(slots_for_good_, &patches_for_good_)) {
    return false;
  }
  return Install(slots_, &patches_);
}

bool HookSet::Install(const std::vector<Slot>& slots,
                      std::vector<VTablePatch>* patches) {
  for (const Slot& slot : slots) {
    auto patch = VTablePatch::Install(slot.vtable, slot.slot, slot.replacement);
    if (!patch) {
      patches->clear();
      return false;
    }
    patches->push_back(std::move(*patch));
  }
  return true;
}

}  // namespace oom_forensics::collector
