#include "collector/tensorflow/serving_hooks.h"

#include <array>
#include <atomic>
#include <utility>

#include "collector/recording/clock.h"

namespace oom_forensics::collector {
namespace {

constexpr char kFindChunk[] = "_ZN3tsl12BFCAllocator12FindChunkPtrEimmm";
constexpr char kCoalesce[] = "_ZN3tsl12BFCAllocator13TryToCoalesceEmb";

using FindChunk = void* (*)(void* self, int bin, size_t rounded_bytes,
                            size_t num_bytes, uint64_t freed_before);
using Coalesce = size_t (*)(void* self, size_t chunk, bool ignore_freed_at);

// A request that was given its chunk after so long is told by when it was.
constexpr int64_t kWaitedNs = 20'000'000;

struct Hooks {
  Recorder* recorder = nullptr;
  FindChunk find_chunk = nullptr;
  Coalesce coalesce = nullptr;
  // Of which pools a release was seen to come by. One that keeps the times of
  // its chunks does not try to coalesce them at once.
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
  if (std::exchange(thread.request.wants_place, false)) {
    thread.request.sequence = g_hooks.recorder->TakeSequence();
  }
  return address;
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
  hooks->Add(coalesce, 0, reinterpret_cast<void*>(&HookedCoalesce));
  hooks->Add(find_chunk, 0, reinterpret_cast<void*>(&HookedFindChunk));
  return "order between threads: as served";
}

ServedRequest::ServedRequest(ThreadState* thread, bool keeps) noexcept
    : thread_(thread),
      outer_(std::exchange(thread->request, {keeps, 0})),
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
