#include "collector/region_visitors.h"

#include <cstddef>
#include <functional>

#include "collector/thread_state.h"

namespace oom_forensics::collector {
namespace {

// (address, NUMA node or bus, bytes)
using Visitor = std::function<void(void*, int, size_t)>;
using CpuSingleton = void* (*)();
using AddCpuVisitor = void (*)(void* process_state, Visitor visitor);

// The calling thread is inside the allocator that grows or shrinks; a region of
// an allocator that is not recorded is not recorded either.
Visitor MakeVisitor(Recorder* recorder, EventKind kind) {
  return [recorder, kind](void* address, int, size_t size_bytes) {
    const ThreadState& thread = CurrentThread();
    if (thread.inside == nullptr) return;
    recorder->RecordRegion(kind, thread.inside->id, address, size_bytes,
                           thread.os_id);
  };
}

}  // namespace

std::string InstallRegionVisitors(const TensorFlowLibrary& library,
                                  Recorder* recorder) {
  const auto singleton = library.FunctionOf<CpuSingleton>(
      "_ZN10tensorflow12ProcessState9singletonEv");
  const auto add_alloc = library.FunctionOf<AddCpuVisitor>(
      "_ZN10tensorflow12ProcessState18AddCPUAllocVisitorESt8functionIFvPvimEE");
  const auto add_free = library.FunctionOf<AddCpuVisitor>(
      "_ZN10tensorflow12ProcessState17AddCPUFreeVisitorESt8functionIFvPvimEE");
  if (singleton == nullptr || add_alloc == nullptr || add_free == nullptr) {
    return "CPU regions: TensorFlow does not export their visitors";
  }
  void* process_state = singleton();
  add_alloc(process_state, MakeVisitor(recorder, EventKind::kRegionAdd));
  add_free(process_state, MakeVisitor(recorder, EventKind::kRegionRemove));
  return "CPU regions: visited";
}

}  // namespace oom_forensics::collector
