// HookSet: slots of virtual tables that are redirected together, and can be put
// back and redirected again. By one thread at a time.
#ifndef OOM_FORENSICS_COLLECTOR_LIBRARY_HOOK_SET_H_
#define OOM_FORENSICS_COLLECTOR_LIBRARY_HOOK_SET_H_

#include <cstddef>
#include <vector>

#include "collector/library/tensorflow_library.h"
#include "collector/library/vtable_patch.h"

namespace oom_forensics::collector {

class HookSet {
 public:
  // Takes part from the next time on that the set is redirected. Slots are
  // redirected in the order in which they were added: add those that free
  // before those that allocate, so that no allocation is seen whose end is not.
  void Add(const VTable& vtable, size_t slot, void* replacement);

  // As Add(), of a slot that is never put back: of a function that ends what
  // the others have seen. It is redirected before they are.
  void AddForGood(const VTable& vtable, size_t slot, void* replacement);

  // Redirects all slots, or, if one cannot be, none; or puts back all
  // but those for good. False if
  // they could not be redirected.
  bool SetActive(bool active);

 private:
  struct Slot {
    VTable vtable;
    size_t slot = 0;
    void* replacement = nullptr;
  };

  static bool Install(const std::vector<Slot>& slots,
                      std::vector<VTablePatch>* patches);

  std::vector<Slot> slots_;
  std::vector<Slot> slots_for_good_;
  std::vector<VTablePatch> patches_for_good_;
  // The slots that are redirected now.
  std::vector<VTablePatch> patches_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_LIBRARY_HOOK_SET_H_
