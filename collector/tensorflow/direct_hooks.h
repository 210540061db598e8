// DirectHooks: stands between TensorFlow and the allocators that take each
// block from the device's driver: cuda_malloc_async, cuda_malloc, and those of
// pluggable devices that want no BFC. Their blocks are recorded like those of a
// pool, with op, step, shape and address, but there is no layout: no regions,
// no chunks, and where blocks lie the driver alone decides.
//
// These classes override AllocateRaw(alignment, size), to which the base class
// leads the calls with attributes; both are redirected, as only the latter tell
// whether the caller handles a failure.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_DIRECT_HOOKS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_DIRECT_HOOKS_H_

#include <vector>

#include "collector/library/hook_report.h"
#include "collector/library/tensorflow_library.h"
#include "collector/tensorflow/allocator_slots.h"
#include "collector/tensorflow/allocator_state.h"
#include "collector/tensorflow/request_recorder.h"

namespace oom_forensics::collector {

// Redirects what is recognized and says what. `requests` must live as long as
// the process. To be called once.
HookReport InstallDirectHooks(const TensorFlowLibrary& library,
                              const AllocatorSlots& slots,
                              const RequestRecorder* requests);

// Takes the hooks out of the virtual tables, or puts them back. What happens in
// between is not seen, but for the end of an allocator.
void SetDirectHooksActive(bool active);

// All such allocators as they are now, those that are gone left out. Takes
// their locks.
std::vector<AllocatorState> StatesOfDirectAllocators();

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_DIRECT_HOOKS_H_
