#include "collector/tensorflow/request_recorder.h"

#include <dlfcn.h>

#include <utility>

#include "collector/python/gil.h"
#include "collector/recording/thread_state.h"
#include "collector/tensorflow/allocator_state.h"
#include "collector/tensorflow/device_probe.h"
#include "collector/xla/runs.h"
#include "core/shape_text.h"

namespace oom_forensics::collector {
namespace {

// TensorFlow makes the text of a shape again at each request, which for the
// smallest ops costs as much as all of the recorder. A tensor that fits into
// this goes without: its size is told, and it fills no memory.
constexpr size_t kMostBytesWithoutShape = 1024;

}  // namespace

RequestRecorder::RequestRecorder(const TensorFlowLibrary& library,
                                 Recorder* recorder, python::StackTaker* stacks,
                                 HostBlocks* blocks, RefusalListener* listener)
    : recorder_(recorder),
      stacks_(stacks),
      blocks_(blocks),
      listener_(listener),
      python_thread_state_(reinterpret_cast<void* (*)()>(
          dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"))) {
  std::string why;
  annotations_ = AnnotationReader::Find(library, &why);
  attribution_ = annotations_.has_value() ? "on" : "off: " + why;
}

// How the op ran that the annotation names. What a kernel allocates has a
// region type ("output"); what TensorFlow does beside (folding constants, say)
// has none. An eager op is named after its type alone and runs in the thread
// that asked for it, which Python knows; a node of a graph has a scope in its
// name or runs in a thread of TensorFlow's pools, which Python does not know.
ExecutionMode RequestRecorder::ModeOf(const Annotation& annotation,
                                      const void* python_thread) const {
  if (annotation.op.empty() || annotation.region_type.empty()) {
    return ExecutionMode::kUnknown;
  }
  if (annotation.op.find('/') != std::string_view::npos) {
    return ExecutionMode::kGraph;
  }
  if (python_thread_state_ == nullptr) return ExecutionMode::kUnknown;
  return python_thread != nullptr ? ExecutionMode::kEager
                                  : ExecutionMode::kGraph;
}

// The site of what the calling thread has just asked for, and its step.
const Site* RequestRecorder::SiteOfRequest(size_t requested_bytes,
                                           size_t allocated_bytes,
                                           int64_t* step_id) const noexcept {
  SiteKey key;
  key.requested_bytes = requested_bytes;
  key.allocated_bytes = allocated_bytes;
  std::string shape;
  const void* const python_thread =
      python_thread_state_ == nullptr ? nullptr : python_thread_state_();
  if (annotations_.has_value()) {
    const Annotation annotation = annotations_->Read();
    key.op = annotation.op;
    key.region_type = annotation.region_type;
    key.dtype = annotation.dtype;
    key.mode = ModeOf(annotation, python_thread);
    *step_id = annotation.step_id;
    // A failed request is recorded with everything.
    if (allocated_bytes == 0 || requested_bytes > kMostBytesWithoutShape) {
      try {
        if (*annotation.shape) shape = (*annotation.shape)();
      } catch (...) {  // bad_alloc: the allocation goes without a shape
      }
      // TensorFlow says [0] of tensors whose shape it does not know yet.
      if (!HasNoElements(shape)) key.shape = shape;
    }
  }
  ThreadState& thread = CurrentThread();
  if (CompiledRun* const run = thread.compiled_run) {
    DescribeRequest(run, requested_bytes, !key.op.empty(), &key.compiled);
    if (key.op.empty() && key.compiled.module.empty()) {
      key.op = CompilingOp(run);
    }
  }
  // A graph's ops were made at another line than the one that runs them; their
  // names lead to it.
  if (python_thread != nullptr && key.mode != ExecutionMode::kGraph) {
    key.stack = stacks_->Take(python_thread);
  }
  return thread.sites.Intern(key, &recorder_->sites());
}

void RequestRecorder::RecordAlloc(const AllocatorInfo& allocator,
                                  const void* address, size_t requested_bytes,
                                  size_t allocated_bytes, uint32_t thread,
                                  EventPlace place) const noexcept {
  int64_t step_id = 0;
  const Site* site = SiteOfRequest(requested_bytes, allocated_bytes, &step_id);
  if (site == nullptr) {
    recorder_->CountDropped(allocator.id, address, place.sequence);
    return;
  }
  recorder_->RecordAlloc(allocator.id, address, site->id, step_id, thread,
                         place);
  if (allocator.in_host_memory && blocks_->is_active() &&
      HostBlocks::Draws(requested_bytes)) {
    blocks_->AddTensor(address, requested_bytes, *site);
  }
}

const Site* RequestRecorder::Describe(const AllocatorInfo& allocator,
                                      size_t requested_bytes,
                                      RefusedRequest* request) const {
  const Site* site = SiteOfRequest(requested_bytes, 0, &request->step_id);
  if (site != nullptr) request->site = site->key;
  request->allocator = FullName(allocator);
  request->python_thread = python::ThisPythonThread();
  return site;
}

uint64_t RequestRecorder::BeginWait(const AllocatorInfo& allocator,
                                    size_t requested_bytes) const noexcept {
  try {
    RefusedRequest request;
    Describe(allocator, requested_bytes, &request);
    if (CompiledRun* const run = CurrentThread().compiled_run) {
      TakeBackRequest(run);
    }
    return listener_->OnWait(request);
  } catch (...) {  // bad_alloc: what can be learnt meanwhile is learnt later
    return 0;
  }
}

void RequestRecorder::RecordFailure(
    const AllocatorInfo& allocator, size_t requested_bytes,
    bool retry_on_failure, int64_t waited_ns, uint32_t thread,
    const std::function<void(Failure*)>& describe) const noexcept {
  try {
    RefusedRequest refused;
    const Site* site = Describe(allocator, requested_bytes, &refused);
    Failure failure;
    failure.sequence = recorder_->RecordFailure(
        allocator.id, site == nullptr ? 0 : site->id, refused.step_id, thread);
    failure.waited_ns = waited_ns;
    failure.retry_on_failure = retry_on_failure;
    describe(&failure);
    refused.sequence = failure.sequence;
    refused.waited_ns = waited_ns;
    recorder_->failures().Add(std::move(failure));
    if (retry_on_failure && !CurrentThread().is_looking) {
      ProbeDevice(ProbeMoment::kOutOfMemory);
      listener_->OnOutOfMemory(refused);
    }
  } catch (...) {  // bad_alloc: the failure's details are lost, the job is not
  }
}

}  // namespace oom_forensics::collector
