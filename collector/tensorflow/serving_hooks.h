// The order in which a pool serves its threads.
//
// Requests enter a pool and leave it in one order and are served in another,
// and where a chunk lies depends on the latter. Two of BFC's functions tell it,
// which it calls with its lock held and through the table of addresses by which
// its library finds exported functions: FindChunkPtr, when a request is given
// its chunk, and TryToCoalesce, when a chunk is free. There an allocation gets
// its place in the order of events, to be recorded with once it has returned,
// and a release is recorded.
//
// A third, AddTraceMe, tells how large the chunk is that was given, so that the
// pool's lock need not be taken a second time to ask for it. That is believed
// once it was often what the pool answers.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_SERVING_HOOKS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_SERVING_HOOKS_H_

#include <cstdint>
#include <string>

#include "collector/library/hook_set.h"
#include "collector/recording/recorder.h"
#include "collector/recording/thread_state.h"

namespace oom_forensics::collector {

// Adds these functions to `hooks`. Returns a sentence of what came of it.
// Without them all that is below works, and events stand where they are
// recorded: allocations after they have returned, releases before they begin.
std::string AddServingHooks(const TensorFlowLibrary& library,
                            Recorder* recorder, HookSet* hooks);

// While it lives, the calling thread is inside a pool to be served.
class ServedRequest {
 public:
  // `keeps`: it will be recorded.
  ServedRequest(ThreadState* thread, bool keeps) noexcept;
  ~ServedRequest() { thread_->request = outer_; }
  ServedRequest(const ServedRequest&) = delete;
  ServedRequest& operator=(const ServedRequest&) = delete;

  // Its place, for Recorder::RecordAlloc().
  EventPlace place() const noexcept;

  // The bytes of the chunk at `address` that it was given, which ask() returns
  // too, but with the pool's lock taken again.
  template <typename Ask>
  uint64_t AllocatedBytes(const void* address, Ask ask) const noexcept {
    const ThreadState::Request& request = thread_->request;
    const bool is_told =
        request.allocated_bytes != 0 && request.address == address;
    if (is_told && SizesAreProved()) return request.allocated_bytes;
    const uint64_t asked = ask();
    if (is_told) CompareSizes(request.allocated_bytes, asked);
    return asked;
  }

  // When it began.
  int64_t coarse_start_ns() const noexcept { return coarse_start_ns_; }

 private:
  // Whether what the pool tells in passing was what it answers, so often that
  // it need not be asked.
  static bool SizesAreProved() noexcept;
  static void CompareSizes(uint64_t told, uint64_t asked) noexcept;

  ThreadState* const thread_;
  const ThreadState::Request outer_;
  const int64_t start_ns_;
  const int64_t coarse_start_ns_;
};

// While it lives, the calling thread is inside a pool to release a chunk. The
// release is recorded at the moment of it; or before, until it was seen that
// the pool's releases come by.
class ServedRelease {
 public:
  ServedRelease(Recorder* recorder, AllocatorId allocator,
                const void* address) noexcept;
  ~ServedRelease();
  ServedRelease(const ServedRelease&) = delete;
  ServedRelease& operator=(const ServedRelease&) = delete;

 private:
  Recorder* const recorder_;
};

// The pool is gone; its id may be another's next.
void ForgetServing(AllocatorId allocator);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_SERVING_HOOKS_H_
