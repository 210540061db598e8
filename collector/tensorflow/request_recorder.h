// RequestRecorder: what the hooks of every kind of allocator do with a request.
// It works out who asked, and tells the Recorder what came of it.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_REQUEST_RECORDER_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_REQUEST_RECORDER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "collector/library/tensorflow_library.h"
#include "collector/python/stack_taker.h"
#include "collector/recording/recorder.h"
#include "collector/tensorflow/annotation_reader.h"

namespace oom_forensics::collector {

// Called in the thread whose request was refused, with no allocator locked.
using OutOfMemoryHandler = std::function<void(const RefusedRequest&)>;

// tsl::AllocationAttributes begins with `bool retry_on_failure`.
inline bool RetryOnFailure(const void* attributes) {
  return *static_cast<const unsigned char*>(attributes) != 0;
}

class RequestRecorder {
 public:
  // `recorder` and `stacks` must live as long as the process.
  RequestRecorder(const TensorFlowLibrary& library, Recorder* recorder,
                  python::StackTaker* stacks,
                  OutOfMemoryHandler on_out_of_memory);

  // "on", or "off: " and why op names are not read.
  const std::string& attribution() const { return attribution_; }
  Recorder& recorder() const { return *recorder_; }

  // The calling thread, `thread`, has got a block that is to be recorded.
  void RecordAlloc(const AllocatorInfo& allocator, const void* address,
                   size_t requested_bytes, size_t allocated_bytes,
                   uint32_t thread, EventPlace place = {}) const noexcept;

  // The calling thread has got nothing after `waited_ns`. `describe` adds what
  // the allocator says; it is called after the failure has its place among the
  // events, and may throw bad_alloc.
  void RecordFailure(
      const AllocatorInfo& allocator, size_t requested_bytes,
      bool retry_on_failure, int64_t waited_ns, uint32_t thread,
      const std::function<void(Failure*)>& describe) const noexcept;

 private:
  const Site* SiteOfRequest(size_t requested_bytes, size_t allocated_bytes,
                            int64_t* step_id) const noexcept;
  // `python_thread`: the thread's state in Python, null: it has none.
  ExecutionMode ModeOf(const Annotation& annotation,
                       const void* python_thread) const;

  Recorder* recorder_;
  python::StackTaker* stacks_;
  OutOfMemoryHandler on_out_of_memory_;
  std::optional<AnnotationReader> annotations_;
  std::string attribution_;
  // PyGILState_GetThisThreadState(): null in threads that Python does not know.
  // Needs no lock. Null itself where there is no Python.
  void* (*python_thread_state_)() = nullptr;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_REQUEST_RECORDER_H_
