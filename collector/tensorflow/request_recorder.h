// RequestRecorder: what the hooks of every kind of allocator do with a request.
// It works out who asked, and tells the Recorder what came of it.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_REQUEST_RECORDER_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_REQUEST_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "collector/black_box/host_blocks.h"
#include "collector/library/tensorflow_library.h"
#include "collector/python/stack_taker.h"
#include "collector/recording/recorder.h"
#include "collector/tensorflow/annotation_reader.h"

namespace oom_forensics::collector {

// Who wants to know of requests that get no memory. Called in the thread that
// asks, with no allocator locked; that thread may hold Python's lock.
class RefusalListener {
 public:
  virtual ~RefusalListener() = default;
  // There is not enough memory, and the allocator begins to wait for more.
  // Must return at once. What it returns belongs to OnWaitOver().
  virtual uint64_t OnWait(const RefusedRequest& request) noexcept = 0;
  // A request that waited has got its memory.
  virtual void OnWaitOver(uint64_t wait) noexcept = 0;
  // The allocator has given up, and its caller will hear of it next.
  virtual void OnOutOfMemory(const RefusedRequest& refused) noexcept = 0;
};

// tsl::AllocationAttributes begins with `bool retry_on_failure`.
inline bool RetryOnFailure(const void* attributes) {
  return *static_cast<const unsigned char*>(attributes) != 0;
}

class RequestRecorder {
 public:
  // All but `library` must live as long as the process.
  RequestRecorder(const TensorFlowLibrary& library, Recorder* recorder,
                  python::StackTaker* stacks, HostBlocks* blocks,
                  RefusalListener* listener);

  // "on", or "off: " and why op names are not read.
  const std::string& attribution() const { return attribution_; }
  Recorder& recorder() const { return *recorder_; }

  // The calling thread, `thread`, has got a block that is to be recorded.
  void RecordAlloc(const AllocatorInfo& allocator, const void* address,
                   size_t requested_bytes, size_t allocated_bytes,
                   uint32_t thread, EventPlace place = {}) const noexcept;

  // A block of a pool is about to end. The black box has those in the host's
  // memory; of others it knows nothing.
  void EndHostBlock(const void* address) const noexcept {
    blocks_->Remove(address);
  }

  // The calling thread has got nothing after `waited_ns`. `describe` adds what
  // the allocator says; it is called after the failure has its place among the
  // events, and may throw bad_alloc.
  void RecordFailure(
      const AllocatorInfo& allocator, size_t requested_bytes,
      bool retry_on_failure, int64_t waited_ns, uint32_t thread,
      const std::function<void(Failure*)>& describe) const noexcept;

  // The calling thread begins to wait for so many bytes. What it returns
  // belongs to EndWait().
  uint64_t BeginWait(const AllocatorInfo& allocator,
                     size_t requested_bytes) const noexcept;
  // It has got them after all.
  void EndWait(uint64_t wait) const noexcept { listener_->OnWaitOver(wait); }
  // Who asks for so many bytes in the calling thread; null: no room for it.
  const Site* SiteOf(size_t bytes) const noexcept {
    int64_t step_id = 0;
    return SiteOfRequest(bytes, bytes, &step_id);
  }

 private:
  const Site* SiteOfRequest(size_t requested_bytes, size_t allocated_bytes,
                            int64_t* step_id) const noexcept;
  // Fills in who asks for what; returns its site, null where there is none.
  const Site* Describe(const AllocatorInfo& allocator, size_t requested_bytes,
                       RefusedRequest* request) const;
  // `python_thread`: the thread's state in Python, null: it has none.
  ExecutionMode ModeOf(const Annotation& annotation,
                       const void* python_thread) const;

  Recorder* recorder_;
  python::StackTaker* stacks_;
  HostBlocks* blocks_;
  RefusalListener* listener_;
  std::optional<AnnotationReader> annotations_;
  std::string attribution_;
  // PyGILState_GetThisThreadState(): null in threads that Python does not know.
  // Needs no lock. Null itself where there is no Python.
  void* (*python_thread_state_)() = nullptr;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_REQUEST_RECORDER_H_
