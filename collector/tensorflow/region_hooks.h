// RegionHooks: which pieces of memory the allocators take from the system and
// give back. Each BFC allocator has a tsl::SubAllocator for that; its Alloc and
// Free are redirected, in the virtual tables of the known sub-allocators.
//
// TensorFlow also offers visitors for this (ProcessState::AddCPUAllocVisitor).
// They are not used: as soon as one is added, TensorFlow gives the CPU another
// allocator than the job would have had without us.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_REGION_HOOKS_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_REGION_HOOKS_H_

#include <string>

#include "collector/library/tensorflow_library.h"
#include "collector/recording/recorder.h"

namespace oom_forensics::collector {

// Redirects what is recognized, and says what, one sentence per line.
// `recorder` must live as long as the process. To be called once.
std::string InstallRegionHooks(const TensorFlowLibrary& library,
                               Recorder* recorder);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_REGION_HOOKS_H_
