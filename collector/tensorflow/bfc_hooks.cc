#include "collector/tensorflow/bfc_hooks.h"

#include <optional>
#include <utility>
#include <vector>

#include "collector/library/hook_set.h"
#include "collector/library/vtable_patch.h"
#include "collector/recording/clock.h"
#include "collector/recording/thread_state.h"
#include "collector/tensorflow/allocator_identity.h"
#include "collector/tensorflow/bfc_inspector.h"
#include "collector/tensorflow/device_probe.h"
#include "collector/tensorflow/memory_dump.h"
#include "collector/tensorflow/serving_hooks.h"
#include "collector/tensorflow/waiting_hook.h"

namespace oom_forensics::collector {
namespace {

constexpr char kAllocateRaw[] =
    "_ZN3tsl12BFCAllocator11AllocateRawEmmRKNS_20AllocationAttributesE";
constexpr char kDeallocateRaw[] = "_ZN3tsl12BFCAllocator13DeallocateRawEPv";

// The classes whose objects are BFC allocators, and the function that `delete`
// on such an object calls.
struct HookedClass {
  const char* name;
  const char* mangled_class;
  const char* deleting_destructor;
};
constexpr HookedClass kClasses[] = {
    {"tsl::BFCAllocator", "N3tsl12BFCAllocatorE", "_ZN3tsl12BFCAllocatorD0Ev"},
    {"tensorflow::GPUBFCAllocator", "N10tensorflow15GPUBFCAllocatorE",
     "_ZN10tensorflow15GPUBFCAllocatorD0Ev"},
    {"tensorflow::PluggableDeviceBFCAllocator",
     "N10tensorflow27PluggableDeviceBFCAllocatorE",
     "_ZN10tensorflow27PluggableDeviceBFCAllocatorD0Ev"},
};
constexpr size_t kClassCount = sizeof(kClasses) / sizeof(kClasses[0]);

using AllocateRaw = void* (*)(void* self, size_t alignment, size_t num_bytes,
                              const void* attributes);
using DeallocateRaw = void (*)(void* self, void* address);
using Delete = void (*)(void* self);

// All that the hooks need; does not change once they are in place.
struct Hooks {
  const RequestRecorder* requests = nullptr;
  Recorder* recorder = nullptr;
  AllocateRaw allocate_raw = nullptr;
  DeallocateRaw deallocate_raw = nullptr;
  Delete deleting_destructors[kClassCount] = {};
  // Where objects of a class point to, to tell an object's class; null where
  // the end of the class's objects is not seen.
  void** end_seen[kClassCount] = {};
  std::optional<BfcInspector> inspector;
  HookSet slots;
};

// Set once, before the first hook is in place; never freed, as a thread may be
// in a hook until the process is gone.
Hooks* g_hooks = nullptr;

// While it lives, the calling thread is inside of `allocator`; whichever way
// that is left.
class Inside {
 public:
  Inside(ThreadState* thread, const AllocatorInfo* allocator)
      : thread_(thread), outer_(std::exchange(thread->inside, allocator)) {}
  ~Inside() { thread_->inside = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  ThreadState* const thread_;
  const AllocatorInfo* const outer_;
};

const AllocatorInfo* AddAllocator(const Hooks& hooks, void* self) noexcept {
  if (hooks.recorder->allocators().TurnsAway()) return nullptr;
  try {
    AllocatorInfo info;
    info.name = hooks.inspector->Name(self);
    AllocatorIdentity identity = IdentifyBfcAllocator(info.name);
    info.kind = std::move(identity.kind);
    info.device_name = std::move(identity.device_name);
    info.in_host_memory = identity.in_host_memory;
    const auto statistics = hooks.inspector->Statistics(self);
    info.complete = statistics.has_value() && statistics->num_allocs == 0 &&
                    statistics->bytes_in_use == 0;
    if (statistics.has_value()) info.limit_bytes = statistics->limit_bytes;
    void** const vtable = *static_cast<void***>(self);
    for (void** const seen : hooks.end_seen) {
      if (vtable == seen) info.end_is_seen = true;
    }
    return hooks.recorder->AddAllocator(self, std::move(info));
  } catch (...) {  // bad_alloc: this allocator is not recorded for now
    return nullptr;
  }
}

[[gnu::noinline]] void RecordFailedRequest(const Hooks& hooks, void* self,
                                           const AllocatorInfo& allocator,
                                           size_t num_bytes,
                                           const void* attributes,
                                           int64_t waited_ns,
                                           uint32_t thread) noexcept {
  const auto describe = [&hooks, self](Failure* failure) {
    failure->statistics = hooks.inspector->Statistics(self);
    if (!failure->retry_on_failure) return;
    failure->memory_dump = hooks.inspector->MemoryDump(self);
    const auto summary = SummarizeMemoryDump(failure->memory_dump);
    failure->reserved_bytes = summary.reserved_bytes;
    failure->largest_free_bytes = summary.largest_free_bytes;
  };
  hooks.requests->RecordFailure(allocator, num_bytes,
                                RetryOnFailure(attributes), waited_ns, thread,
                                describe);
}

void* HookedAllocateRaw(void* self, size_t alignment, size_t num_bytes,
                        const void* attributes) {
  const Hooks& hooks = *g_hooks;
  const AllocatorInfo* allocator = hooks.recorder->allocators().Find(self);
  if (allocator == nullptr) {
    allocator = AddAllocator(hooks, self);
    ProbeDevice(ProbeMoment::kNewAllocator);
    if (allocator == nullptr) {
      return hooks.allocate_raw(self, alignment, num_bytes, attributes);
    }
  }
  ThreadState& thread = CurrentThread();
  const bool keeps = hooks.recorder->Keeps(num_bytes, &thread.random);
  const ServedRequest request(&thread, keeps);
  void* const address = [&] {
    const Inside inside(&thread, allocator);
    return hooks.allocate_raw(self, alignment, num_bytes, attributes);
  }();
  if (address == nullptr) {
    // Nothing asked for, nothing given: not a failure.
    if (num_bytes > 0) {
      RecordFailedRequest(hooks, self, *allocator, num_bytes, attributes,
                          CoarseClockNs() - request.coarse_start_ns(),
                          thread.os_id);
    }
    return nullptr;
  }
  if (!keeps) {
    hooks.recorder->CountAlloc(allocator->id, address);
    return address;
  }
  const uint64_t allocated_bytes =
      request.AllocatedBytes(address, [&hooks, self, address] {
        return hooks.inspector->AllocatedSize(self, address);
      });
  hooks.requests->RecordAlloc(*allocator, address, num_bytes, allocated_bytes,
                              thread.os_id, request.place());
  return address;
}

void HookedDeallocateRaw(void* self, void* address) {
  const Hooks& hooks = *g_hooks;
  const AllocatorInfo* allocator =
      address == nullptr ? nullptr : hooks.recorder->allocators().Find(self);
  if (allocator == nullptr) return hooks.deallocate_raw(self, address);
  hooks.requests->EndHostBlock(address);
  const ServedRelease release(hooks.recorder, allocator->id, address);
  hooks.deallocate_raw(self, address);
}

template <size_t kClass>
void HookedDelete(void* self) {
  const Hooks& hooks = *g_hooks;
  ThreadState& thread = CurrentThread();
  const AllocatorInfo* allocator = hooks.recorder->allocators().Find(self);
  // Forgotten before it is gone: its address may be reused at once.
  hooks.recorder->allocators().Forget(self);
  {
    const Inside inside(&thread, allocator);
    hooks.deleting_destructors[kClass](self);
  }
  if (allocator == nullptr) return;
  ForgetServing(allocator->id);
  hooks.recorder->DropAllocator(allocator->id);
}
constexpr Delete kHookedDeletes[kClassCount] = {
    HookedDelete<0>, HookedDelete<1>, HookedDelete<2>};

// Finds the slots of one class and adds them to the hooks; the sentence says
// what came of it.
bool FindSlotsOfClass(const TensorFlowLibrary& library, size_t index,
                      Hooks* hooks, std::string* sentence) {
  const HookedClass& hooked_class = kClasses[index];
  const VTable vtable = library.FindVTable(hooked_class.mangled_class);
  *sentence = hooked_class.name;
  if (vtable.slots == nullptr) {
    *sentence += ": not in this TensorFlow";
    return false;
  }
  const auto allocate =
      FindSlot(vtable, reinterpret_cast<void*>(hooks->allocate_raw));
  const auto deallocate =
      FindSlot(vtable, reinterpret_cast<void*>(hooks->deallocate_raw));
  if (!allocate || !deallocate) {
    *sentence +=
        ": its virtual table does not hold AllocateRaw and DeallocateRaw as "
        "expected; not touched";
    return false;
  }
  // Frees first: an allocation must not be recorded whose end will not be.
  hooks->slots.Add(vtable, *deallocate,
                   reinterpret_cast<void*>(&HookedDeallocateRaw));
  const Delete deleting_destructor =
      library.FunctionOf<Delete>(hooked_class.deleting_destructor);
  if (const auto destroy =
          FindSlot(vtable, reinterpret_cast<void*>(deleting_destructor))) {
    hooks->deleting_destructors[index] = deleting_destructor;
    hooks->end_seen[index] = vtable.slots;
    // Its address would be asked after its end.
    hooks->slots.AddForGood(vtable, *destroy,
                            reinterpret_cast<void*>(kHookedDeletes[index]));
  }
  hooks->slots.Add(vtable, *allocate,
                   reinterpret_cast<void*>(&HookedAllocateRaw));
  *sentence += ": hooked";
  return true;
}

}  // namespace

HookReport InstallBfcHooks(const TensorFlowLibrary& library,
                           const RequestRecorder* requests) {
  HookReport report;
  auto* hooks = new Hooks;
  hooks->requests = requests;
  hooks->recorder = &requests->recorder();
  hooks->allocate_raw = library.FunctionOf<AllocateRaw>(kAllocateRaw);
  hooks->deallocate_raw = library.FunctionOf<DeallocateRaw>(kDeallocateRaw);
  std::string why;
  if (hooks->allocate_raw == nullptr || hooks->deallocate_raw == nullptr) {
    why = "TensorFlow does not export the functions of tsl::BFCAllocator";
  } else {
    hooks->inspector = BfcInspector::Find(library, &why);
  }
  if (!hooks->inspector.has_value()) {
    report.sentences = why + "; no BFC allocator is hooked";
    delete hooks;
    return report;
  }
  const std::string order =
      AddServingHooks(library, hooks->recorder, &hooks->slots) + '\n' +
      AddWaitingHook(library, requests, &hooks->slots);
  for (size_t i = 0; i < kClassCount; ++i) {
    std::string sentence;
    report.hooked |= FindSlotsOfClass(library, i, hooks, &sentence);
    if (!report.sentences.empty()) report.sentences += '\n';
    report.sentences += sentence;
  }
  report.sentences += '\n' + order;
  g_hooks = hooks;
  if (!hooks->slots.SetActive(true)) {
    report.hooked = false;
    report.sentences =
        "the virtual tables of BFC allocators cannot be written; not touched";
  }
  return report;
}

void SetBfcHooksActive(bool active) {
  if (g_hooks != nullptr) g_hooks->slots.SetActive(active);
}

std::vector<AllocatorState> StatesOfBfcAllocators(StateDepth depth) {
  std::vector<AllocatorState> states;
  if (g_hooks == nullptr) return states;
  const AllocatorTable& allocators = g_hooks->recorder->allocators();
  const auto none_goes = allocators.KeepAll();
  const std::vector<Region> regions = g_hooks->recorder->Regions();
  for (size_t i = 0; i < allocators.size(); ++i) {
    void* address = allocators.address(i);
    AllocatorState state;
    state.info = allocators.Describe(i);
    if (address == nullptr || !state.info.has_layout) continue;
    for (const Region& region : regions) {
      if (region.allocator != i) continue;
      ++state.regions;
      state.reserved_bytes += region.size_bytes;
    }
    if (state.info.end_is_seen) {
      state.statistics = g_hooks->inspector->Statistics(address);
      if (depth == StateDepth::kMap) {
        state.map =
            SummarizeMemoryDump(g_hooks->inspector->MemoryDump(address));
      }
    }
    states.push_back(std::move(state));
  }
  return states;
}

}  // namespace oom_forensics::collector
