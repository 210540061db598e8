// The order in which a pool serves its threads.
//
// Requests enter a pool and leave it in one order and are served in another,
// and where a chunk lies depends on the latter. Two of BFC's functions tell it,
// which it calls with its lock held and through the table of addresses by which
// its library finds exported functions: FindChunkPtr, when a request is given
// its chunk, and TryToCoalesce, when a chunk is free. There an allocation gets
// its place in the order of events, to be recorded with once it has returned,
// and a release is recorded.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_SERVING_HOOKS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_SERVING_HOOKS_H_

#include <cstdint>
#include <string>

#include "collector/library/hook_set.h"
#include "collector/recording/recorder.h"
#include "collector/recording/thread_state.h"

namespace oom_forensics::collector {

// Adds the two functions to `hooks`. Returns a sentence of what came of it.
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

 private:
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
