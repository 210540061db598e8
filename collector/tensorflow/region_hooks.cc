#include "collector/tensorflow/region_hooks.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "collector/library/vtable_patch.h"
#include "collector/recording/thread_state.h"
#include "collector/tensorflow/device_probe.h"

namespace oom_forensics::collector {
namespace {

// Sub-allocators of BFC allocators. All derive from tsl::SubAllocator by single
// inheritance, so their Alloc and Free are in the same slots; which ones, the
// first tells, whose functions are exported.
constexpr struct {
  const char* name;
  const char* mangled_class;
} kClasses[] = {
    {"tensorflow::BasicCPUAllocator", "N10tensorflow17BasicCPUAllocatorE"},
    {"tensorflow::MklSubAllocator", "N10tensorflow15MklSubAllocatorE"},
    {"stream_executor::DeviceMemAllocator",
     "N15stream_executor18DeviceMemAllocatorE"},
    // Pinned memory, in TensorFlow 2.15 and 2.18.
    {"stream_executor::DeviceHostAllocator",
     "N15stream_executor19DeviceHostAllocatorE"},
    {"stream_executor::StreamExecutorAllocator",
     "N15stream_executor23StreamExecutorAllocatorE"},
};
constexpr size_t kClassCount = sizeof(kClasses) / sizeof(kClasses[0]);
constexpr char kBase[] = "N3tsl12SubAllocatorE";
constexpr char kAlloc[] = "_ZN10tensorflow17BasicCPUAllocator5AllocEmmPm";
constexpr char kFree[] = "_ZN10tensorflow17BasicCPUAllocator4FreeEPvm";

using Alloc = void* (*)(void* self, size_t alignment, size_t num_bytes,
                        size_t* bytes_received);
using Free = void (*)(void* self, void* address, size_t num_bytes);

struct Hooks {
  Recorder* recorder = nullptr;
  Alloc alloc[kClassCount] = {};
  Free free[kClassCount] = {};
  std::vector<VTablePatch> patches;
};

// Set once, before the first hook is in place; never freed.
Hooks* g_hooks = nullptr;

// The calling thread is inside the pool that grows or shrinks. Where it is in
// none the block is no region: the pool is not recorded, or there is none.
bool Record(RecordedKind kind, const void* address, size_t size_bytes) {
  const ThreadState& thread = CurrentThread();
  if (thread.inside == nullptr || address == nullptr) return false;
  g_hooks->recorder->RecordRegion(kind, thread.inside->id, address, size_bytes,
                                  thread.os_id);
  return true;
}

template <size_t kClass>
void* HookedAlloc(void* self, size_t alignment, size_t num_bytes,
                  size_t* bytes_received) {
  void* address =
      g_hooks->alloc[kClass](self, alignment, num_bytes, bytes_received);
  if (Record(RecordedKind::kRegionAdd, address, *bytes_received)) {
    ProbeDevice(ProbeMoment::kRegionGrowth);
  }
  return address;
}

template <size_t kClass>
void HookedFree(void* self, void* address, size_t num_bytes) {
  Record(RecordedKind::kRegionRemove, address, num_bytes);
  g_hooks->free[kClass](self, address, num_bytes);
}

constexpr Alloc kHookedAllocs[kClassCount] = {HookedAlloc<0>, HookedAlloc<1>,
                                              HookedAlloc<2>, HookedAlloc<3>,
                                              HookedAlloc<4>};
constexpr Free kHookedFrees[kClassCount] = {
    HookedFree<0>, HookedFree<1>, HookedFree<2>, HookedFree<3>, HookedFree<4>};

bool HookClass(const VTable& vtable, size_t index, size_t alloc_slot,
               size_t free_slot) {
  if (alloc_slot >= vtable.slot_count || free_slot >= vtable.slot_count) {
    return false;
  }
  g_hooks->alloc[index] = reinterpret_cast<Alloc>(vtable.slots[alloc_slot]);
  g_hooks->free[index] = reinterpret_cast<Free>(vtable.slots[free_slot]);
  auto alloc = VTablePatch::Install(
      vtable, alloc_slot, reinterpret_cast<void*>(kHookedAllocs[index]));
  if (!alloc) return false;
  auto free = VTablePatch::Install(
      vtable, free_slot, reinterpret_cast<void*>(kHookedFrees[index]));
  if (!free) return false;
  g_hooks->patches.push_back(std::move(*alloc));
  g_hooks->patches.push_back(std::move(*free));
  return true;
}

}  // namespace

std::string InstallRegionHooks(const TensorFlowLibrary& library,
                               Recorder* recorder) {
  const VTable first = library.FindVTable(kClasses[0].mangled_class);
  const auto alloc_slot = FindSlot(first, library.Symbol(kAlloc));
  const auto free_slot = FindSlot(first, library.Symbol(kFree));
  if (!alloc_slot || !free_slot) {
    return "regions: this TensorFlow's sub-allocators are not recognized";
  }
  g_hooks = new Hooks;
  g_hooks->recorder = recorder;
  g_hooks->patches.reserve(2 * kClassCount);
  std::string sentences;
  for (size_t i = 0; i < kClassCount; ++i) {
    const VTable vtable = library.FindVTable(kClasses[i].mangled_class);
    const char* outcome = ": not in this TensorFlow";
    if (vtable.slots != nullptr) {
      outcome = library.DerivesSinglyFrom(vtable, kBase) &&
                        HookClass(vtable, i, *alloc_slot, *free_slot)
                    ? ": hooked"
                    : ": not as expected; not touched";
    }
    if (!sentences.empty()) sentences += '\n';
    sentences += std::string("regions of ") + kClasses[i].name + outcome;
  }
  return sentences;
}

}  // namespace oom_forensics::collector
