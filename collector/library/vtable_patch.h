// VTablePatch: one slot of a virtual table, redirected to a function of ours
// and put back when the patch is destroyed.
//
// The slot is not counted but searched for: it is where the table holds the
// function's own exported address. If it holds it nowhere or twice (another
// compiler, another tool was here first), nothing is written.
#ifndef OOM_FORENSICS_COLLECTOR_LIBRARY_VTABLE_PATCH_H_
#define OOM_FORENSICS_COLLECTOR_LIBRARY_VTABLE_PATCH_H_

#include <cstddef>
#include <optional>

#include "collector/library/tensorflow_library.h"

namespace oom_forensics::collector {

// The only slot of `table` that holds `function`.
std::optional<size_t> FindSlot(const VTable& table, const void* function);

class VTablePatch {
 public:
  // Makes `slot` (of FindSlot) call `replacement`. None if the page cannot be
  // made writable; the table is then as before.
  static std::optional<VTablePatch> Install(const VTable& table, size_t slot,
                                            void* replacement);

  VTablePatch(VTablePatch&& other) noexcept;
  VTablePatch& operator=(VTablePatch&&) = delete;
  // Puts the original back, unless someone else has replaced us since.
  ~VTablePatch();

 private:
  VTablePatch(void** slot, void* original, void* replacement)
      : slot_(slot), original_(original), replacement_(replacement) {}

  void** slot_;
  void* original_;
  void* replacement_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_LIBRARY_VTABLE_PATCH_H_
