#include "collector/tensorflow/bfc_hooks.h"

#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "collector/recording/thread_state.h"
#include "collector/tensorflow/allocator_identity.h"
#include "collector/tensorflow/device_probe.h"
#include "collector/tensorflow/memory_dump.h"
#include "collector/tensorflow/vtable_patch.h"

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
  Recorder* recorder = nullptr;
  AllocateRaw allocate_raw = nullptr;
  DeallocateRaw deallocate_raw = nullptr;
  Delete deleting_destructors[kClassCount] = {};
  // Where objects of a class point to, to tell an object's class; null where
  // the end of the class's objects is not seen.
  void** end_seen[kClassCount] = {};
  std::optional<BfcInspector> inspector;
  std::optional<AnnotationReader> annotations;
  // PyGILState_GetThisThreadState(): null in threads that Python does not know.
  // Needs no lock. Null itself where there is no Python.
  void* (*python_thread_state)() = nullptr;
  OutOfMemoryHandler on_out_of_memory;
};

// A slot that is redirected while the hooks are active.
struct HookedSlot {
  VTable vtable;
  size_t slot = 0;
  void* replacement = nullptr;
};

// Which slots there are, and the patches of those that are redirected now.
struct ActiveHooks {
  std::mutex mutex;
  std::vector<HookedSlot> slots;
  std::vector<VTablePatch> patches;
};

// Set once, before the first hook is in place; never freed, as a thread may be
// in a hook until the process is gone.
const Hooks* g_hooks = nullptr;

ActiveHooks& Active() {
  static auto* const active = new ActiveHooks;
  return *active;
}

// The first four milliseconds do not matter: this only tells how long a failing
// request was retried, and is five times cheaper than an exact clock.
int64_t CoarseClockNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

const AllocatorInfo* AddAllocator(const Hooks& hooks, void* self) noexcept {
  try {
    AllocatorInfo info;
    info.name = hooks.inspector->Name(self);
    AllocatorIdentity identity = IdentifyBfcAllocator(info.name);
    info.kind = std::move(identity.kind);
    info.device_name = std::move(identity.device_name);
    const auto statistics = hooks.inspector->Statistics(self);
    info.complete = statistics.has_value() && statistics->num_allocs == 0 &&
                    statistics->bytes_in_use == 0;
    void** const vtable = *static_cast<void***>(self);
    for (void** const seen : hooks.end_seen) {
      if (vtable == seen) info.end_is_seen = true;
    }
    return hooks.recorder->allocators().Add(self, std::move(info));
  } catch (...) {  // bad_alloc: this allocator is not recorded for now
    return nullptr;
  }
}

// How the op ran that the annotation names. What a kernel allocates has a
// region type ("output"); what TensorFlow does beside (folding constants, say)
// has none. An eager op is named after its type alone and runs in the thread
// that asked for it, which Python knows; a node of a graph has a scope in its
// name or runs in a thread of TensorFlow's pools, which Python does not know.
ExecutionMode ModeOf(const Hooks& hooks, const Annotation& annotation) {
  if (annotation.op.empty() || annotation.region_type.empty()) {
    return ExecutionMode::kUnknown;
  }
  if (annotation.op.find('/') != std::string_view::npos) {
    return ExecutionMode::kGraph;
  }
  if (hooks.python_thread_state == nullptr) return ExecutionMode::kUnknown;
  return hooks.python_thread_state() != nullptr ? ExecutionMode::kEager
                                                : ExecutionMode::kGraph;
}

// The site of what the calling thread has just asked for, and its step.
const Site* SiteOfRequest(const Hooks& hooks, size_t requested_bytes,
                          size_t allocated_bytes, int64_t* step_id) noexcept {
  SiteKey key;
  key.requested_bytes = requested_bytes;
  key.allocated_bytes = allocated_bytes;
  std::string shape;
  if (hooks.annotations.has_value()) {
    const Annotation annotation = hooks.annotations->Read();
    key.op = annotation.op;
    key.region_type = annotation.region_type;
    key.dtype = annotation.dtype;
    key.mode = ModeOf(hooks, annotation);
    *step_id = annotation.step_id;
    try {
      if (*annotation.shape) shape = (*annotation.shape)();
    } catch (...) {  // bad_alloc: the allocation goes without a shape
    }
    key.shape = shape;
  }
  return hooks.recorder->sites().Intern(key);
}

// AllocationAttributes begins with `bool retry_on_failure`.
bool RetryOnFailure(const void* attributes) {
  return *static_cast<const unsigned char*>(attributes) != 0;
}

[[gnu::noinline]] void RecordFailedRequest(const Hooks& hooks, void* self,
                                           const AllocatorInfo& allocator,
                                           size_t num_bytes,
                                           const void* attributes,
                                           int64_t waited_ns,
                                           uint32_t thread) noexcept {
  try {
    int64_t step_id = 0;
    const Site* site = SiteOfRequest(hooks, num_bytes, 0, &step_id);
    Failure failure;
    failure.sequence = hooks.recorder->RecordFailure(
        allocator.id, site == nullptr ? 0 : site->id, step_id, thread);
    failure.waited_ns = waited_ns;
    failure.retry_on_failure = RetryOnFailure(attributes);
    failure.statistics = hooks.inspector->Statistics(self);
    if (failure.retry_on_failure) {
      failure.memory_dump = hooks.inspector->MemoryDump(self);
      const auto summary = SummarizeMemoryDump(failure.memory_dump);
      failure.reserved_bytes = summary.reserved_bytes;
      failure.largest_free_bytes = summary.largest_free_bytes;
    }
    const uint64_t sequence = failure.sequence;
    const bool is_out_of_memory = failure.retry_on_failure;
    hooks.recorder->AddFailure(std::move(failure));
    if (is_out_of_memory) {
      ProbeDevice(ProbeMoment::kOutOfMemory);
      hooks.on_out_of_memory(sequence);
    }
  } catch (...) {  // bad_alloc: the failure's details are lost, the job is not
  }
}

void* HookedAllocateRaw(void* self, size_t alignment, size_t num_bytes,
                        const void* attributes) {
  const Hooks& hooks = *g_hooks;
  const AllocatorInfo* allocator = hooks.recorder->allocators().Find(self);
  if (allocator == nullptr) {
    allocator = AddAllocator(hooks, self);
    if (allocator == nullptr) {
      return hooks.allocate_raw(self, alignment, num_bytes, attributes);
    }
  }
  ThreadState& thread = CurrentThread();
  const AllocatorInfo* outer = std::exchange(thread.inside, allocator);
  const int64_t start_ns = CoarseClockNs();
  void* address = hooks.allocate_raw(self, alignment, num_bytes, attributes);
  thread.inside = outer;
  if (address == nullptr) {
    // Nothing asked for, nothing given: not a failure.
    if (num_bytes > 0) {
      RecordFailedRequest(hooks, self, *allocator, num_bytes, attributes,
                          CoarseClockNs() - start_ns, thread.os_id);
    }
    return nullptr;
  }
  if (!hooks.recorder->Keeps(num_bytes, &thread.random)) {
    hooks.recorder->CountAlloc(allocator->id, address);
    return address;
  }
  int64_t step_id = 0;
  const Site* site =
      SiteOfRequest(hooks, num_bytes,
                    hooks.inspector->AllocatedSize(self, address), &step_id);
  hooks.recorder->RecordAlloc(allocator->id, address,
                              site == nullptr ? 0 : site->id, step_id,
                              thread.os_id);
  return address;
}

void HookedDeallocateRaw(void* self, void* address) {
  const Hooks& hooks = *g_hooks;
  if (address != nullptr) {
    if (const auto* allocator = hooks.recorder->allocators().Find(self)) {
      hooks.recorder->RecordFree(allocator->id, address, CurrentThread().os_id);
    }
  }
  hooks.deallocate_raw(self, address);
}

template <size_t kClass>
void HookedDelete(void* self) {
  const Hooks& hooks = *g_hooks;
  ThreadState& thread = CurrentThread();
  const AllocatorInfo* allocator = hooks.recorder->allocators().Find(self);
  const AllocatorInfo* outer = std::exchange(thread.inside, allocator);
  // Forgotten before it is gone: its address may be reused at once.
  hooks.recorder->allocators().Forget(self);
  hooks.deleting_destructors[kClass](self);
  thread.inside = outer;
  if (allocator != nullptr) hooks.recorder->DropAllocator(allocator->id);
}
constexpr Delete kHookedDeletes[kClassCount] = {
    HookedDelete<0>, HookedDelete<1>, HookedDelete<2>};

// Finds the slots of one class and adds them to `slots`; the sentence says what
// came of it.
bool FindSlotsOfClass(const TensorFlowLibrary& library, size_t index,
                      Hooks* hooks, std::vector<HookedSlot>* slots,
                      std::string* sentence) {
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
  slots->push_back(
      {vtable, *deallocate, reinterpret_cast<void*>(&HookedDeallocateRaw)});
  const Delete deleting_destructor =
      library.FunctionOf<Delete>(hooked_class.deleting_destructor);
  if (const auto destroy =
          FindSlot(vtable, reinterpret_cast<void*>(deleting_destructor))) {
    hooks->deleting_destructors[index] = deleting_destructor;
    hooks->end_seen[index] = vtable.slots;
    slots->push_back(
        {vtable, *destroy, reinterpret_cast<void*>(kHookedDeletes[index])});
  }
  slots->push_back(
      {vtable, *allocate, reinterpret_cast<void*>(&HookedAllocateRaw)});
  *sentence += ": hooked";
  return true;
}

// Redirects all slots, or, if one cannot be, none.
bool Redirect(ActiveHooks* active) {
  for (const HookedSlot& slot : active->slots) {
    auto patch = VTablePatch::Install(slot.vtable, slot.slot, slot.replacement);
    if (!patch) {
      active->patches.clear();
      return false;
    }
    active->patches.push_back(std::move(*patch));
  }
  return true;
}

}  // namespace

HookReport InstallBfcHooks(const TensorFlowLibrary& library, Recorder* recorder,
                           OutOfMemoryHandler on_out_of_memory) {
  HookReport report;
  auto* hooks = new Hooks;
  hooks->on_out_of_memory = std::move(on_out_of_memory);
  hooks->recorder = recorder;
  hooks->allocate_raw = library.FunctionOf<AllocateRaw>(kAllocateRaw);
  hooks->deallocate_raw = library.FunctionOf<DeallocateRaw>(kDeallocateRaw);
  hooks->python_thread_state = reinterpret_cast<void* (*)()>(
      dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"));
  std::string why;
  if (hooks->allocate_raw == nullptr || hooks->deallocate_raw == nullptr) {
    why = "TensorFlow does not export the functions of tsl::BFCAllocator";
  } else {
    hooks->inspector = BfcInspector::Find(library, &why);
  }
  if (!hooks->inspector.has_value()) {
    report.hooks = why + "; no allocator is hooked";
    report.attribution = "off: no allocator is hooked";
    delete hooks;
    return report;
  }
  hooks->annotations = AnnotationReader::Find(library, &why);
  report.attribution = hooks->annotations.has_value() ? "on" : "off: " + why;

  std::lock_guard<std::mutex> lock(Active().mutex);
  for (size_t i = 0; i < kClassCount; ++i) {
    std::string sentence;
    report.allocators_hooked |=
        FindSlotsOfClass(library, i, hooks, &Active().slots, &sentence);
    if (!report.hooks.empty()) report.hooks += '\n';
    report.hooks += sentence;
  }
  g_hooks = hooks;
  if (!Redirect(&Active())) {
    report.allocators_hooked = false;
    report.hooks = "the virtual tables cannot be written; nothing is hooked";
  }
  return report;
}

void SetBfcHooksActive(bool active) {
  std::lock_guard<std::mutex> lock(Active().mutex);
  if (active == !Active().patches.empty()) return;
  if (active) {
    Redirect(&Active());
  } else {
    Active().patches.clear();
  }
}

std::vector<AllocatorState> StatesOfAllocators() {
  std::vector<AllocatorState> states;
  if (g_hooks == nullptr) return states;
  const AllocatorTable& allocators = g_hooks->recorder->allocators();
  const std::vector<Region> regions = g_hooks->recorder->Regions();
  for (size_t i = 0; i < allocators.size(); ++i) {
    void* address = allocators.address(i);
    if (address == nullptr) continue;
    AllocatorState state;
    state.info = allocators.at(i);
    state.regions = static_cast<uint64_t>(std::count_if(
        regions.begin(), regions.end(),
        [i](const Region& region) { return region.allocator == i; }));
    if (state.info.end_is_seen) {
      state.statistics = g_hooks->inspector->Statistics(address);
      state.map = SummarizeMemoryDump(g_hooks->inspector->MemoryDump(address));
    }
    states.push_back(std::move(state));
  }
  return states;
}

std::string MemoryDumpOf(size_t allocator_index) {
  if (g_hooks == nullptr) return "";
  const AllocatorTable& allocators = g_hooks->recorder->allocators();
  void* address = allocators.address(allocator_index);
  if (address == nullptr || !allocators.at(allocator_index).end_is_seen) {
    return "";
  }
  return g_hooks->inspector->MemoryDump(address);
}

}  // namespace oom_forensics::collector
