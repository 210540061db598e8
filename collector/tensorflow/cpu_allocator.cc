#include "collector/tensorflow/cpu_allocator.h"

#include <malloc.h>

#include <cstddef>
#include <new>

#include "collector/library/hook_set.h"
#include "collector/tensorflow/size_counters.h"

namespace oom_forensics::collector {
namespace {

constexpr struct {
  const char* name;
  const char* mangled_class;
  bool is_exported;
} kClasses[] = {
    {"tsl CPUAllocator", "N3tsl12_GLOBAL__N_112CPUAllocatorE", false},
    {"tensorflow::MklSmallSizeAllocator",
     "N10tensorflow21MklSmallSizeAllocatorE", true},
};
constexpr size_t kClassCount = sizeof(kClasses) / sizeof(kClasses[0]);

constexpr char kAlignedMalloc[] = "_ZN3tsl4port13AlignedMallocEmi";
constexpr char kSizedAlignedMalloc[] =
    "_ZN3tsl4port13AlignedMallocEmSt11align_val_t";
constexpr char kAlignedFree[] = "_ZN3tsl4port11AlignedFreeEPv";

using AllocateRaw = void* (*)(void* self, size_t alignment, size_t num_bytes);
using DeallocateRaw = void (*)(void* self, void* address);
using SizedDeallocateRaw = void (*)(void* self, void* address, size_t alignment,
                                    size_t num_bytes);
using AlignedMalloc = void* (*)(size_t size, int alignment);
using SizedAlignedMalloc = void* (*)(size_t size, std::align_val_t alignment);
using AlignedFree = void (*)(void* address);

// What the slots of a class held before.
struct Originals {
  AllocateRaw allocate = nullptr;
  DeallocateRaw deallocate = nullptr;
  SizedDeallocateRaw deallocate_sized = nullptr;
};

struct Hooks {
  Originals originals[kClassCount];
  // For each class, all slots are hooked or none.
  HookSet slots[kClassCount];
};

// Set once, before the first hook is in place; never freed.
Hooks* g_hooks = nullptr;

const RequestRecorder* g_requests = nullptr;
HostBlocks* g_blocks = nullptr;

SizeCounters g_counters;

template <size_t kClass>
void* HookedAllocate(void* self, size_t alignment, size_t num_bytes) {
  void* address =
      g_hooks->originals[kClass].allocate(self, alignment, num_bytes);
  if (address == nullptr) return address;
  g_counters.Add(malloc_usable_size(address));
  if (g_blocks->is_active() && HostBlocks::Draws(num_bytes)) {
    const Site* const site = g_requests->SiteOf(num_bytes);
    if (site != nullptr) g_blocks->AddTensor(address, num_bytes, *site);
  }
  return address;
}

// One way to deallocate may call the other.
thread_local bool t_deallocating = false;

// Whichever way its scope is left.
class Deallocating {
 public:
  Deallocating() { t_deallocating = true; }
  ~Deallocating() { t_deallocating = false; }
  Deallocating(const Deallocating&) = delete;
  Deallocating& operator=(const Deallocating&) = delete;
};

template <typename Deallocate>
void CountAndDeallocate(void* address, Deallocate deallocate) {
  if (t_deallocating || address == nullptr) {
    deallocate();
    return;
  }
  g_counters.Remove(malloc_usable_size(address));
  g_blocks->Remove(address);
  const Deallocating deallocating;
  deallocate();
}

template <size_t kClass>
void HookedDeallocate(void* self, void* address) {
  CountAndDeallocate(
      address, [&] { g_hooks->originals[kClass].deallocate(self, address); });
}

template <size_t kClass>
void HookedDeallocateSized(void* self, void* address, size_t alignment,
                           size_t num_bytes) {
  CountAndDeallocate(address, [&] {
    g_hooks->originals[kClass].deallocate_sized(self, address, alignment,
                                                num_bytes);
  });
}

constexpr AllocateRaw kHookedAllocates[kClassCount] = {HookedAllocate<0>,
                                                       HookedAllocate<1>};
constexpr DeallocateRaw kHookedDeallocates[kClassCount] = {HookedDeallocate<0>,
                                                           HookedDeallocate<1>};
constexpr SizedDeallocateRaw kHookedSizedDeallocates[kClassCount] = {
    HookedDeallocateSized<0>, HookedDeallocateSized<1>};

// Whether TensorFlow's blocks are those of the malloc that we ask for their
// size: another one might be built in.
bool BlocksAreMallocs(const TensorFlowLibrary& library) {
  const auto aligned = library.FunctionOf<AlignedMalloc>(kAlignedMalloc);
  const auto sized =
      library.FunctionOf<SizedAlignedMalloc>(kSizedAlignedMalloc);
  const auto free = library.FunctionOf<AlignedFree>(kAlignedFree);
  if ((aligned == nullptr && sized == nullptr) || free == nullptr) return false;
  for (const size_t bytes : {size_t{100}, size_t{5000}, size_t{1} << 20}) {
    void* block = sized != nullptr ? sized(bytes, std::align_val_t{64})
                                   : aligned(bytes, 64);
    if (block == nullptr) return false;
    const size_t usable = malloc_usable_size(block);
    free(block);
    if (usable < bytes || usable > bytes + (bytes >> 2) + 4096) return false;
  }
  return true;
}

std::string HookClass(const TensorFlowLibrary& library, size_t index,
                      const AllocatorSlots& slots) {
  const AllocatorClass found =
      FindAllocatorClass(library, slots, kClasses[index].mangled_class,
                         kClasses[index].is_exported);
  if (found.vtable.slots == nullptr) return found.why_not;
  void** const table = found.vtable.slots;
  HookSet& hooks = g_hooks->slots[index];
  Originals& originals = g_hooks->originals[index];
  originals.allocate = reinterpret_cast<AllocateRaw>(table[slots.allocate]);
  originals.deallocate =
      reinterpret_cast<DeallocateRaw>(table[slots.deallocate]);
  hooks.Add(found.vtable, slots.deallocate,
            reinterpret_cast<void*>(kHookedDeallocates[index]));
  if (slots.deallocate_sized.has_value()) {
    originals.deallocate_sized =
        reinterpret_cast<SizedDeallocateRaw>(table[*slots.deallocate_sized]);
    hooks.Add(found.vtable, *slots.deallocate_sized,
              reinterpret_cast<void*>(kHookedSizedDeallocates[index]));
  }
  hooks.Add(found.vtable, slots.allocate,
            reinterpret_cast<void*>(kHookedAllocates[index]));
  return hooks.SetActive(true)
             ? ": sizes counted"
             : ": its virtual table cannot be written; not touched";
}

}  // namespace

std::string InstallCpuAllocatorHooks(const TensorFlowLibrary& library,
                                     const AllocatorSlots& slots,
                                     const RequestRecorder* requests,
                                     HostBlocks* blocks) {
  if (!BlocksAreMallocs(library)) {
    return "sizes of the CPU's malloc: it is not the malloc of this process";
  }
  g_requests = requests;
  g_blocks = blocks;
  g_hooks = new Hooks;
  std::string sentences;
  for (size_t i = 0; i < kClassCount; ++i) {
    if (!sentences.empty()) sentences += '\n';
    sentences += kClasses[i].name + HookClass(library, i, slots);
  }
  return sentences;
}

void SetCpuAllocatorHooksActive(bool active) {
  if (g_hooks == nullptr) return;
  for (HookSet& slots : g_hooks->slots) slots.SetActive(active);
}

std::optional<AllocatorStatistics> StatisticsOfCpuAllocator() {
  return g_counters.Read();
}

}  // namespace oom_forensics::collector
