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

#include <cstddef>
#include <string>
#include <vector>

#include "collector/library/hook_report.h"
#include "collector/library/tensorflow_library.h"
#include "collector/tensorflow/allocator_state.h"
#include "collector/tensorflow/request_recorder.h"

namespace oom_forensics::collector {

// Redirects what is recognized and says what. `requests` must live as long as
// the process. To be called once.
HookReport InstallBfcHooks(const TensorFlowLibrary& library,
                           const RequestRecorder* requests);

// Takes the hooks out of the virtual tables, or puts them back. What happens in
// between is not seen, but for the end of an allocator.
void SetBfcHooksActive(bool active);

// All BFC allocators as they are now, those that are gone left out. Takes their
// locks.
std::vector<AllocatorState> StatesOfBfcAllocators(StateDepth depth);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_BFC_HOOKS_H_
