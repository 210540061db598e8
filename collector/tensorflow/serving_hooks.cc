#include "collector/tensorflow/serving_hooks.h"

#include <array>
#include <atomic>
#include <string_view>
#include <utility>

#include "collector/recording/clock.h"

namespace oom_forensics::collector {
namespace {

constexpr char kFindChunk[] = "_ZN3tsl12BFCAllocator12FindChunkPtrEimmm";
constexpr char kCoalesce[] = "_ZN3tsl12BFCAllocator13TryToCoalesceEmb";

// Called with what was given, or is released. Some TensorFlows (2.18) do it in
// line where a chunk is given; then nothing is told, and the pool is asked.
constexpr char kAddTraceMe[] =
    "_ZN3tsl12BFCAllocator10AddTraceMeESt17basic_string_viewIcSt11char_"
    "traitsIcEEPKvll";

using FindChunk = void* (*)(void* self, int bin, size_t rounded_bytes,
                            size_t num_bytes, uint64_t freed_before);
using Coalesce = size_t (*)(void* self, size_t chunk, bool ignore_freed_at);
using AddTraceMe = void (*)(void* self, std::string_view name,
                            const void* address, int64_t requested_bytes,
                            int64_t allocated_bytes);

// So many sizes that were told are compared with the pool's answers before they
// are believed.
constexpr int kComparedSizes = 32;

// A request that was given its chunk after so long is told by when it was.
constexpr int64_t kWaitedNs = 20'000'000;

struct Hooks {
  Recorder* recorder = nullptr;
  FindChunk find_chunk = nullptr;
  Coalesce coalesce = nullptr;
  AddTraceMe add_trace_me = nullptr;
  // How many sizes were compared and alike; below 0: one was not.
  std::atomic<int> sizes_alike = 0;
  // The pools of which a release was seen. A pool that keeps the times of its
  // chunks does not try to coalesce them at once.
  std::array<std::atomic<bool>, kMaxAllocators> sees_releases = {};
};

// Never freed: a thread may be in a hook until the process is gone.
Hooks* TheHooks() {
  static auto* const hooks = new Hooks;
  return hooks;
}
Hooks& g_hooks = *TheHooks();

void* HookedFindChunk(void* self, int bin, size_t rounded_bytes,
                      size_t num_bytes, uint64_t freed_before) {
  void* const address =
      g_hooks.find_chunk(self, bin, rounded_bytes, num_bytes, freed_before);
  if (address == nullptr) return nullptr;
  ThreadState& thread = CurrentThread();
  ThreadState::Request& request = thread.request;
  if (std::exchange(request.wants_place, false)) {
    request.sequence = g_hooks.recorder->TakeSequence();
    request.address = address;
    request.requested_bytes = num_bytes;
  }
  return address;
}

void HookedAddTraceMe(void* self, std::string_view name, const void* address,
                      int64_t requested_bytes, int64_t allocated_bytes) {
  ThreadState::Request& request = CurrentThread().request;
  if (request.address == address && address != nullptr &&
      request.requested_bytes == static_cast<uint64_t>(requested_bytes)) {
    request.allocated_bytes = static_cast<uint64_t>(allocated_bytes);
  }
  g_hooks.add_trace_me(self, name, address, requested_bytes, allocated_bytes);
}

size_t HookedCoalesce(void* self, size_t chunk, bool ignore_freed_at) {
  ThreadState& thread = CurrentThread();
  ThreadState::Release& release = thread.release;
  if (std::exchange(release.pending, false)) {
    if (release.address == nullptr) {
      g_hooks.sees_releases[release.allocator].store(true,
                                                     std::memory_order_relaxed);
    } else if (g_hooks.recorder->TryRecordFree(release.allocator,
                                               release.address, thread.os_id,
                                               release.start_ns)) {
      release.address = nullptr;
    } else {
      release.sequence = g_hooks.recorder->TakeSequence();
    }
  }
  return g_hooks.coalesce(self, chunk, ignore_freed_at);
}

}  // namespace

std::string AddServingHooks(const TensorFlowLibrary& library,
                            Recorder* recorder, HookSet* hooks) {
  g_hooks.recorder = recorder;
  g_hooks.find_chunk = library.FunctionOf<FindChunk>(kFindChunk);
  g_hooks.coalesce = library.FunctionOf<Coalesce>(kCoalesce);
  const VTable find_chunk =
      library.FindCallSlot(reinterpret_cast<void*>(g_hooks.find_chunk));
  const VTable coalesce =
      library.FindCallSlot(reinterpret_cast<void*>(g_hooks.coalesce));
  if (find_chunk.slots == nullptr || coalesce.slots == nullptr) {
    return "order between threads: as recorded, not as served; this "
           "TensorFlow's BFC allocator is not as expected";
  }
  g_hooks.add_trace_me = library.FunctionOf<AddTraceMe>(kAddTraceMe);
  const VTable add_trace_me =
      library.FindCallSlot(reinterpret_cast<void*>(g_hooks.add_trace_me));
  if (add_trace_me.slots != nullptr) {
    hooks->Add(add_trace_me, 0, reinterpret_cast<void*>(&HookedAddTraceMe));
  }
  hooks->Add(coalesce, 0, reinterpret_cast<void*>(&HookedCoalesce));
  hooks->Add(find_chunk, 0, reinterpret_cast<void*>(&HookedFindChunk));
  return "order between threads: as served";
}

ServedRequest::ServedRequest(ThreadState* thread, bool keeps) noexcept
    : thread_(thread),
      outer_(std::exchange(thread->request, {keeps, 0, nullptr, 0, 0})),
      start_ns_(WallClockNs()),
      coarse_start_ns_(CoarseClockNs()) {}

EventPlace ServedRequest::place() const noexcept {
  EventPlace place;
  place.sequence = thread_->request.sequence;
  // When it began: others, who come after it in order, may be recorded long
  // before it.
  if (CoarseClockNs() - coarse_start_ns_ < kWaitedNs) {
    place.time_ns = start_ns_;
  }
  return place;
}

bool ServedRequest::SizesAreProved() noexcept {
  return g_hooks.sizes_alike.load(std::memory_order_relaxed) >= kComparedSizes;
}

void ServedRequest::CompareSizes(uint64_t told, uint64_t asked) noexcept {
  if (told != asked) {
    g_hooks.sizes_alike.store(-1, std::memory_order_relaxed);
    return;
  }
  int alike = g_hooks.sizes_alike.load(std::memory_order_relaxed);
  while (alike >= 0 && !g_hooks.sizes_alike.compare_exchange_weak(
                           alike, alike + 1, std::memory_order_relaxed)) {
  }
}

ServedRelease::ServedRelease(Recorder* recorder, AllocatorId allocator,
                             const void* address) noexcept
    : recorder_(recorder) {
  ThreadState& thread = CurrentThread();
  thread.release = {true, allocator, nullptr, 0, 0};
  if (g_hooks.sees_releases[allocator].load(std::memory_order_relaxed)) {
    thread.release.address = address;
    thread.release.start_ns = WallClockNs();
  } else {
    recorder->RecordFree(allocator, address, thread.os_id);
  }
}

ServedRelease::~ServedRelease() {
  ThreadState& thread = CurrentThread();
  const ThreadState::Release release = std::exchange(thread.release, {});
  if (release.address == nullptr) return;
  // It did not come by: the hooks were taken out meanwhile.
  if (release.pending) {
    g_hooks.sees_releases[release.allocator].store(false,
                                                   std::memory_order_relaxed);
  }
  recorder_->RecordFree(release.allocator, release.address, thread.os_id,
                        {release.sequence, release.start_ns});
}

void ForgetServing(AllocatorId allocator) {
  g_hooks.sees_releases[allocator].store(false, std::memory_order_relaxed);
}

}  // namespace oom_forensics::collector
