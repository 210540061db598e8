#include "collector/tensorflow/cpu_allocator.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>
#include <vector>

#include "collector/tensorflow/vtable_patch.h"

namespace oom_forensics::collector {
namespace {

constexpr char kAllocator[] = "N3tsl9AllocatorE";
constexpr char kBfcAllocator[] = "N3tsl12BFCAllocatorE";

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

constexpr char kBfcAllocate[] = "_ZN3tsl12BFCAllocator11AllocateRawEmm";
constexpr char kBfcDeallocate[] = "_ZN3tsl12BFCAllocator13DeallocateRawEPv";
// Newer versions tell the size, too.
constexpr char kSizedDeallocate[] = "_ZN3tsl9Allocator13DeallocateRawEPvmm";
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
  std::vector<VTablePatch> patches;
};

// Set once, before the first hook is in place; never freed.
Hooks* g_hooks = nullptr;

// One line of the cache, apart from what only readers share.
struct alignas(64) Counters {
  std::atomic<uint64_t> allocations{0};
  std::atomic<int64_t> in_use_bytes{0};
  std::atomic<int64_t> peak_bytes{0};
  std::atomic<int64_t> largest_bytes{0};
};
Counters g_counters;

constexpr auto kRelaxed = std::memory_order_relaxed;

void RaiseTo(std::atomic<int64_t>* highest, int64_t value) {
  int64_t known = highest->load(kRelaxed);
  while (value > known && !highest->compare_exchange_weak(known, value)) {
  }
}

void Add(size_t num_bytes) {
  const auto bytes = static_cast<int64_t>(num_bytes);
  g_counters.allocations.fetch_add(1, kRelaxed);
  RaiseTo(&g_counters.largest_bytes, bytes);
  RaiseTo(&g_counters.peak_bytes,
          g_counters.in_use_bytes.fetch_add(bytes, kRelaxed) + bytes);
}

template <size_t kClass>
void* HookedAllocate(void* self, size_t alignment, size_t num_bytes) {
  void* address =
      g_hooks->originals[kClass].allocate(self, alignment, num_bytes);
  if (address != nullptr) Add(malloc_usable_size(address));
  return address;
}

// One way to deallocate may call the other.
thread_local bool t_deallocating = false;

template <typename Deallocate>
void CountAndDeallocate(void* address, Deallocate deallocate) {
  if (t_deallocating || address == nullptr) {
    deallocate();
    return;
  }
  g_counters.in_use_bytes.fetch_sub(
      static_cast<int64_t>(malloc_usable_size(address)), kRelaxed);
  t_deallocating = true;
  deallocate();
  t_deallocating = false;
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

// Redirects all slots or none.
bool Redirect(const VTable& vtable,
              const std::vector<std::pair<size_t, void*>>& slots) {
  std::vector<VTablePatch> patches;
  for (const auto& [slot, replacement] : slots) {
    auto patch = VTablePatch::Install(vtable, slot, replacement);
    if (!patch) return false;
    patches.push_back(std::move(*patch));
  }
  for (VTablePatch& patch : patches) {
    g_hooks->patches.push_back(std::move(patch));
  }
  return true;
}

// Where classes that derive from tsl::Allocator have these functions. None
// stands for a function that this TensorFlow does not have.
struct Slots {
  size_t allocate = 0;
  size_t deallocate = 0;
  std::optional<size_t> deallocate_sized;
};

// BFCAllocator is such a class, and exports what stands in which slot.
std::optional<Slots> FindSlots(const TensorFlowLibrary& library) {
  const VTable bfc = library.FindVTable(kBfcAllocator);
  if (bfc.slots == nullptr || !library.DerivesSinglyFrom(bfc, kAllocator)) {
    return std::nullopt;
  }
  const auto allocate = FindSlot(bfc, library.Symbol(kBfcAllocate));
  const auto deallocate = FindSlot(bfc, library.Symbol(kBfcDeallocate));
  const auto sized = FindSlot(bfc, library.Symbol(kSizedDeallocate));
  const bool has_sized = library.Symbol(kSizedDeallocate) != nullptr;
  if (!allocate || !deallocate || has_sized != sized.has_value()) {
    return std::nullopt;
  }
  return Slots{*allocate, *deallocate, sized};
}

std::string HookClass(const TensorFlowLibrary& library, size_t index,
                      const Slots& slots) {
  const char* name = kClasses[index].mangled_class;
  const VTable vtable = kClasses[index].is_exported
                            ? library.FindVTable(name)
                            : library.FindHiddenVTable(name, kAllocator);
  if (vtable.slots == nullptr) return ": not in this TensorFlow";
  if (!library.DerivesSinglyFrom(vtable, kAllocator) ||
      std::max({slots.allocate, slots.deallocate,
                slots.deallocate_sized.value_or(0)}) >= vtable.slot_count) {
    return ": not as expected; not touched";
  }
  Originals& originals = g_hooks->originals[index];
  originals.allocate =
      reinterpret_cast<AllocateRaw>(vtable.slots[slots.allocate]);
  originals.deallocate =
      reinterpret_cast<DeallocateRaw>(vtable.slots[slots.deallocate]);
  // Frees first: an allocation must not be counted whose end will not be.
  std::vector<std::pair<size_t, void*>> replacements = {
      {slots.deallocate, reinterpret_cast<void*>(kHookedDeallocates[index])}};
  if (slots.deallocate_sized) {
    originals.deallocate_sized = reinterpret_cast<SizedDeallocateRaw>(
        vtable.slots[*slots.deallocate_sized]);
    replacements.emplace_back(
        *slots.deallocate_sized,
        reinterpret_cast<void*>(kHookedSizedDeallocates[index]));
  }
  replacements.emplace_back(slots.allocate,
                            reinterpret_cast<void*>(kHookedAllocates[index]));
  return Redirect(vtable, replacements)
             ? ": sizes counted"
             : ": its virtual table cannot be written; not touched";
}

}  // namespace

std::string InstallCpuAllocatorHooks(const TensorFlowLibrary& library) {
  const auto slots = FindSlots(library);
  if (!slots.has_value()) {
    return "sizes of the CPU's malloc: tsl::Allocator is not as expected";
  }
  if (!BlocksAreMallocs(library)) {
    return "sizes of the CPU's malloc: it is not the malloc of this process";
  }
  g_hooks = new Hooks;
  std::string sentences;
  for (size_t i = 0; i < kClassCount; ++i) {
    if (!sentences.empty()) sentences += '\n';
    sentences += kClasses[i].name + HookClass(library, i, *slots);
  }
  return sentences;
}

std::optional<AllocatorStatistics> StatisticsOfCpuAllocator() {
  const uint64_t allocations = g_counters.allocations.load(kRelaxed);
  if (allocations == 0) return std::nullopt;
  const auto bytes = [](const std::atomic<int64_t>& counter) {
    return static_cast<uint64_t>(std::max<int64_t>(0, counter.load(kRelaxed)));
  };
  AllocatorStatistics statistics;
  statistics.num_allocs = allocations;
  statistics.bytes_in_use = bytes(g_counters.in_use_bytes);
  statistics.peak_bytes_in_use = bytes(g_counters.peak_bytes);
  statistics.largest_alloc_bytes = bytes(g_counters.largest_bytes);
  return statistics;
}

}  // namespace oom_forensics::collector
