// BfcHooks: stands between TensorFlow and every tsl::BFCAllocator (CPU-BFC,
// GPU, pluggable devices), by redirecting AllocateRaw and DeallocateRaw in the
// classes' virtual tables. Each call goes on to TensorFlow's own function
// unchanged, and what it did is told to the Recorder.
//
// The sequence of an event is taken after AllocateRaw has returned and before
// DeallocateRaw is entered: of two events at one address, the free then always
// comes before the next allocation.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_BFC_HOOKS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_BFC_HOOKS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/recording/recorder.h"
#include "collector/tensorflow/allocator_state.h"
#include "collector/tensorflow/annotation_reader.h"
#include "collector/tensorflow/bfc_inspector.h"
#include "collector/tensorflow/tensorflow_library.h"

namespace oom_forensics::collector {

// What was found and done, one sentence per line; what the session plane and
// `oom-forensics doctor` show.
struct HookReport {
  bool allocators_hooked = false;
  std::string hooks;
  std::string attribution;
};

// Called with the sequence of a failure that its caller does not handle, in the
// thread that had it, with no allocator locked.
using OutOfMemoryHandler = std::function<void(uint64_t sequence)>;

// Redirects what is recognised and says what. `recorder` must live as long as
// the process. To be called once.
HookReport InstallBfcHooks(const TensorFlowLibrary& library, Recorder* recorder,
                           OutOfMemoryHandler on_out_of_memory);

// Takes the hooks out of the virtual tables, or puts them back. What happens in
// between is not seen.
void SetBfcHooksActive(bool active);

// The chunk map of a known allocator, a serialised tensorflow.MemoryDump; empty
// if it may not be asked. Takes the allocator's lock.
std::string MemoryDumpOf(size_t allocator_index);

// All allocators as they are now, those that are gone left out. Takes their
// locks.
std::vector<AllocatorState> StatesOfAllocators();

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_BFC_HOOKS_H_
