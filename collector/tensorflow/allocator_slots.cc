#include "collector/tensorflow/allocator_slots.h"

#include <algorithm>

#include "collector/library/vtable_patch.h"

namespace oom_forensics::collector {
namespace {

constexpr char kAllocator[] = "N3tsl9AllocatorE";
constexpr char kBfcAllocator[] = "N3tsl12BFCAllocatorE";
#define OOM_FORENSICS_BFC "_ZN3tsl12BFCAllocator"
constexpr char kDestroy[] = OOM_FORENSICS_BFC "D0Ev";
constexpr char kName[] = OOM_FORENSICS_BFC "4NameB5cxx11Ev";
constexpr char kAllocate[] = OOM_FORENSICS_BFC "11AllocateRawEmm";
constexpr char kAllocateWithAttributes[] =
    OOM_FORENSICS_BFC "11AllocateRawEmmRKNS_20AllocationAttributesE";
constexpr char kDeallocate[] = OOM_FORENSICS_BFC "13DeallocateRawEPv";
constexpr char kGetStats[] = OOM_FORENSICS_BFC "8GetStatsEv";
#undef OOM_FORENSICS_BFC
// The BFC allocator inherits it.
constexpr char kDeallocateSized[] = "_ZN3tsl9Allocator13DeallocateRawEPvmm";

}  // namespace

size_t AllocatorSlots::highest() const {
  return std::max({destroy, name, allocate, allocate_with_attributes,
                   deallocate, deallocate_sized.value_or(0), get_stats});
}

std::optional<AllocatorSlots> FindAllocatorSlots(
    const TensorFlowLibrary& library) {
  const VTable bfc = library.FindVTable(kBfcAllocator);
  if (bfc.slots == nullptr || !library.DerivesSinglyFrom(bfc, kAllocator)) {
    return std::nullopt;
  }
  AllocatorSlots slots;
  bool complete = true;
  const auto find = [&](size_t* slot, const char* function) {
    const auto found = FindSlot(bfc, library.Symbol(function));
    complete &= found.has_value();
    *slot = found.value_or(0);
  };
  find(&slots.destroy, kDestroy);
  find(&slots.name, kName);
  find(&slots.allocate, kAllocate);
  find(&slots.allocate_with_attributes, kAllocateWithAttributes);
  find(&slots.deallocate, kDeallocate);
  find(&slots.get_stats, kGetStats);
  if (const void* sized = library.Symbol(kDeallocateSized)) {
    slots.deallocate_sized = FindSlot(bfc, sized);
    complete &= slots.deallocate_sized.has_value();
  }
  if (!complete) return std::nullopt;
  return slots;
}

AllocatorClass FindAllocatorClass(const TensorFlowLibrary& library,
                                  const AllocatorSlots& slots,
                                  const std::string& mangled_class,
                                  bool is_exported) {
  const VTable vtable =
      is_exported ? library.FindVTable(mangled_class)
                  : library.FindHiddenVTable(mangled_class, kAllocator);
  if (vtable.slots == nullptr) return {{}, ": not in this TensorFlow"};
  if (!library.DerivesSinglyFrom(vtable, kAllocator) ||
      slots.highest() >= vtable.slot_count) {
    return {{}, ": not as expected; not touched"};
  }
  return {vtable, ""};
}

}  // namespace oom_forensics::collector
