// BfcHooks: stands between TensorFlow and every tsl::BFCAllocator (CPU-BFC,
// GPU, pluggable devices), by redirecting AllocateRaw and DeallocateRaw in the
// classes' virtual tables. Each call goes on to TensorFlow's own function
// unchanged, and what it did is told to the Recorder.
//
// The sequence of an event is taken after AllocateRaw has returned and before
// DeallocateRaw is entered: of two events at one address, the free then always
// comes before the next allocation.
#ifndef OOM_FORENSICS_COLLECTOR_BFC_HOOKS_H_
#define OOM_FORENSICS_COLLECTOR_BFC_HOOKS_H_

#include <optional>
#include <string>

#include "collector/annotation_reader.h"
#include "collector/bfc_inspector.h"
#include "collector/recorder.h"
#include "collector/tensorflow_library.h"

namespace oom_forensics::collector {

// What was found and done, one sentence per line; what the session plane and
// `oom-forensics doctor` show.
struct HookReport {
  bool allocators_hooked = false;
  std::string hooks;
  std::string attribution;
};

// Redirects what is recognised and says what. `recorder` must live as long as
// the process. To be called once.
HookReport InstallBfcHooks(const TensorFlowLibrary& library,
                           Recorder* recorder);

// The chunk map of a known allocator, a serialised tensorflow.MemoryDump; empty
// if it may not be asked. Takes the allocator's lock.
std::string MemoryDumpOf(size_t allocator_index);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BFC_HOOKS_H_
