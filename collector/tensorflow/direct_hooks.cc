#include "collector/tensorflow/direct_hooks.h"

#include <array>
#include <string>
#include <utility>

#include "collector/library/hook_set.h"
#include "collector/recording/clock.h"
#include "collector/recording/thread_state.h"
#include "collector/tensorflow/allocator_identity.h"
#include "collector/tensorflow/size_counters.h"
#include "collector/tensorflow/statistics_reader.h"

namespace oom_forensics::collector {
namespace {

struct DirectClass {
  const char* name;
  const char* mangled_class;
  // One of event_schema.h's kAllocatorKind.
  const char* kind;
};
constexpr DirectClass kClasses[] = {
    {"stream_executor::GpuCudaMallocAsyncAllocator",
     "N15stream_executor27GpuCudaMallocAsyncAllocatorE", "cuda_malloc_async"},
    {"tensorflow::GPUcudaMallocAllocator",
     "N10tensorflow22GPUcudaMallocAllocatorE", "cuda_malloc"},
    {"tensorflow::PluggableDeviceSimpleAllocator",
     "N10tensorflow30PluggableDeviceSimpleAllocatorE", "pluggable"},
};
constexpr size_t kClassCount = sizeof(kClasses) / sizeof(kClasses[0]);

using Destroy = void (*)(void* self);
using Name = std::string (*)(void* self);
using Allocate = void* (*)(void* self, size_t alignment, size_t num_bytes);
using AllocateWithAttributes = void* (*)(void* self, size_t alignment,
                                         size_t num_bytes,
                                         const void* attributes);
using Deallocate = void (*)(void* self, void* address);
using DeallocateSized = void (*)(void* self, void* address, size_t alignment,
                                 size_t num_bytes);

// What the slots of a class held before.
struct Originals {
  Destroy destroy = nullptr;
  Name name = nullptr;
  Allocate allocate = nullptr;
  AllocateWithAttributes allocate_with_attributes = nullptr;
  Deallocate deallocate = nullptr;
  DeallocateSized deallocate_sized = nullptr;
  GetStats get_stats = nullptr;
};

struct Hooks {
  const RequestRecorder* requests = nullptr;
  Recorder* recorder = nullptr;
  Originals originals[kClassCount];
  // Where objects of a class point to.
  void** tables[kClassCount] = {};
  HookSet slots;
  // By allocator, of the blocks that are recorded: not every class counts.
  std::array<SizeCounters, kMaxAllocators> counters;
};

// Set once, before the first hook is in place; never freed, as a thread may be
// in a hook until the process is gone.
Hooks* g_hooks = nullptr;

// One way to allocate may call the other, and one to deallocate the other: only
// the outermost is a request.
thread_local bool t_inside = false;

// The end of a call from outside, whichever way it is left.
class Outermost {
 public:
  Outermost() { t_inside = true; }
  ~Outermost() { t_inside = false; }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
};

// What the allocator says, or, where it keeps no statistics, what was counted.
// The limit is left out: cuda_malloc_async calls so what its pool keeps, and
// goes beyond.
std::optional<AllocatorStatistics> StatisticsOf(const Hooks& hooks,
                                                size_t class_index,
                                                AllocatorId id, void* self) {
  auto statistics =
      ReadStatistics(hooks.originals[class_index].get_stats, self);
  if (!statistics.has_value() || statistics->num_allocs == 0) {
    return hooks.counters[id].Read();
  }
  statistics->limit_bytes = 0;
  return statistics;
}

const AllocatorInfo* AddAllocator(const Hooks& hooks, size_t class_index,
                                  void* self) noexcept {
  if (hooks.recorder->allocators().TurnsAway()) return nullptr;
  try {
    const Originals& originals = hooks.originals[class_index];
    AllocatorInfo info;
    info.name = originals.name(self);
    info.kind = kClasses[class_index].kind;
    info.device_name = DeviceOfDirectAllocator(info.name);
    // One that counts tells whether it was used before; one that does not has
    // been here since import, as have the hooks.
    const auto statistics = ReadStatistics(originals.get_stats, self);
    info.complete = !statistics.has_value() || statistics->num_allocs == 0;
    info.end_is_seen = true;
    info.has_layout = false;
    return hooks.recorder->AddAllocator(self, std::move(info));
  } catch (...) {  // bad_alloc: this allocator is not recorded for now
    return nullptr;
  }
}

template <size_t kClass, typename AllocateBlock>
void* RecordAllocation(void* self, size_t num_bytes, bool retry_on_failure,
                       AllocateBlock allocate_block) {
  if (t_inside) return allocate_block();
  Hooks& hooks = *g_hooks;
  const AllocatorInfo* allocator = hooks.recorder->allocators().Find(self);
  if (allocator == nullptr) allocator = AddAllocator(hooks, kClass, self);
  const int64_t start_ns = CoarseClockNs();
  void* const address = [&] {
    const Outermost outermost;
    return allocate_block();
  }();
  if (allocator == nullptr) return address;
  ThreadState& thread = CurrentThread();
  if (address == nullptr) {
    // Nothing asked for, nothing given: not a failure.
    if (num_bytes > 0) {
      const auto describe = [&](Failure* failure) {
        failure->statistics = StatisticsOf(hooks, kClass, allocator->id, self);
      };
      hooks.requests->RecordFailure(*allocator, num_bytes, retry_on_failure,
                                    CoarseClockNs() - start_ns, thread.os_id,
                                    describe);
    }
    return nullptr;
  }
  if (!hooks.recorder->Keeps(num_bytes, &thread.random)) {
    hooks.recorder->CountAlloc(allocator->id, address);
    return address;
  }
  hooks.counters[allocator->id].Add(num_bytes);
  // What the driver rounds up to, it does not say.
  hooks.requests->RecordAlloc(*allocator, address, num_bytes, num_bytes,
                              thread.os_id);
  return address;
}

template <size_t kClass>
void* HookedAllocate(void* self, size_t alignment, size_t num_bytes) {
  // As AllocationAttributes says where nothing else is said.
  constexpr bool kRetryOnFailure = true;
  return RecordAllocation<kClass>(self, num_bytes, kRetryOnFailure, [&] {
    return g_hooks->originals[kClass].allocate(self, alignment, num_bytes);
  });
}

template <size_t kClass>
void* HookedAllocateWithAttributes(void* self, size_t alignment,
                                   size_t num_bytes, const void* attributes) {
  return RecordAllocation<kClass>(
      self, num_bytes, RetryOnFailure(attributes), [&] {
        return g_hooks->originals[kClass].allocate_with_attributes(
            self, alignment, num_bytes, attributes);
      });
}

template <typename DeallocateBlock>
void RecordDeallocation(void* self, void* address,
                        DeallocateBlock deallocate_block) {
  if (t_inside || address == nullptr) {
    deallocate_block();
    return;
  }
  Hooks& hooks = *g_hooks;
  if (const auto* allocator = hooks.recorder->allocators().Find(self)) {
    const SiteId site = hooks.recorder->RecordFree(allocator->id, address,
                                                   CurrentThread().os_id);
    hooks.counters[allocator->id].Remove(
        hooks.recorder->sites().AllocatedBytesOf(site));
  }
  const Outermost outermost;
  deallocate_block();
}

template <size_t kClass>
void HookedDeallocate(void* self, void* address) {
  RecordDeallocation(self, address, [&] {
    g_hooks->originals[kClass].deallocate(self, address);
  });
}

template <size_t kClass>
void HookedDeallocateSized(void* self, void* address, size_t alignment,
                           size_t num_bytes) {
  RecordDeallocation(self, address, [&] {
    g_hooks->originals[kClass].deallocate_sized(self, address, alignment,
                                                num_bytes);
  });
}

template <size_t kClass>
void HookedDestroy(void* self) {
  AllocatorTable& allocators = g_hooks->recorder->allocators();
  const AllocatorInfo* allocator = allocators.Find(self);
  // Forgotten before it is gone: its address may be reused at once.
  allocators.Forget(self);
  g_hooks->originals[kClass].destroy(self);
  if (allocator == nullptr) return;
  g_hooks->counters[allocator->id].Clear();
  g_hooks->recorder->DropAllocator(allocator->id);
}

template <typename Function>
Function FunctionIn(const VTable& vtable, size_t slot) {
  return reinterpret_cast<Function>(vtable.slots[slot]);
}

template <size_t kClass>
void AddSlots(const VTable& vtable, const AllocatorSlots& slots, Hooks* hooks) {
  Originals& originals = hooks->originals[kClass];
  originals.destroy = FunctionIn<Destroy>(vtable, slots.destroy);
  originals.name = FunctionIn<Name>(vtable, slots.name);
  originals.allocate = FunctionIn<Allocate>(vtable, slots.allocate);
  originals.allocate_with_attributes = FunctionIn<AllocateWithAttributes>(
      vtable, slots.allocate_with_attributes);
  originals.deallocate = FunctionIn<Deallocate>(vtable, slots.deallocate);
  originals.get_stats = FunctionIn<GetStats>(vtable, slots.get_stats);
  hooks->tables[kClass] = vtable.slots;
  const auto add = [&](size_t slot, auto* replacement) {
    hooks->slots.Add(vtable, slot, reinterpret_cast<void*>(replacement));
  };
  if (slots.deallocate_sized.has_value()) {
    originals.deallocate_sized =
        FunctionIn<DeallocateSized>(vtable, *slots.deallocate_sized);
    add(*slots.deallocate_sized, &HookedDeallocateSized<kClass>);
  }
  add(slots.deallocate, &HookedDeallocate<kClass>);
  // Its address would be asked after its end.
  hooks->slots.AddForGood(vtable, slots.destroy,
                          reinterpret_cast<void*>(&HookedDestroy<kClass>));
  add(slots.allocate, &HookedAllocate<kClass>);
  add(slots.allocate_with_attributes, &HookedAllocateWithAttributes<kClass>);
}

constexpr void (*kAddSlots[kClassCount])(const VTable&, const AllocatorSlots&,
                                         Hooks*) = {AddSlots<0>, AddSlots<1>,
                                                    AddSlots<2>};

}  // namespace

HookReport InstallDirectHooks(const TensorFlowLibrary& library,
                              const AllocatorSlots& slots,
                              const RequestRecorder* requests) {
  HookReport report;
  auto* hooks = new Hooks;
  hooks->requests = requests;
  hooks->recorder = &requests->recorder();
  for (size_t i = 0; i < kClassCount; ++i) {
    const AllocatorClass found =
        FindAllocatorClass(library, slots, kClasses[i].mangled_class, true);
    if (!report.sentences.empty()) report.sentences += '\n';
    report.sentences += kClasses[i].name;
    if (found.vtable.slots == nullptr) {
      report.sentences += found.why_not;
      continue;
    }
    kAddSlots[i](found.vtable, slots, hooks);
    report.sentences += ": hooked";
    report.hooked = true;
  }
  g_hooks = hooks;
  if (!hooks->slots.SetActive(true)) {
    report.hooked = false;
    report.sentences =
        "the virtual tables of allocators without a pool cannot be written; "
        "not touched";
  }
  return report;
}

void SetDirectHooksActive(bool active) {
  if (g_hooks != nullptr) g_hooks->slots.SetActive(active);
}

std::vector<AllocatorState> StatesOfDirectAllocators() {
  std::vector<AllocatorState> states;
  if (g_hooks == nullptr) return states;
  const AllocatorTable& allocators = g_hooks->recorder->allocators();
  const auto none_goes = allocators.KeepAll();
  for (size_t i = 0; i < allocators.size(); ++i) {
    void* self = allocators.address(i);
    AllocatorState state;
    state.info = allocators.Describe(i);
    if (self == nullptr || state.info.has_layout) continue;
    for (size_t c = 0; c < kClassCount; ++c) {
      if (*static_cast<void***>(self) != g_hooks->tables[c]) continue;
      state.statistics = StatisticsOf(*g_hooks, c, state.info.id, self);
    }
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace oom_forensics::collector
