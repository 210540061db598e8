// Region visitors: TensorFlow itself tells who asks about every piece of memory
// that its allocators take from the system or give back (ProcessState's
// visitors). They must be added before the allocators exist, which at import is
// always so.
#ifndef OOM_FORENSICS_COLLECTOR_REGION_VISITORS_H_
#define OOM_FORENSICS_COLLECTOR_REGION_VISITORS_H_

#include <string>

#include "collector/recorder.h"
#include "collector/tensorflow_library.h"

namespace oom_forensics::collector {

// Adds the visitors that this TensorFlow has, and says which, one sentence per
// line. `recorder` must live as long as the process.
std::string InstallRegionVisitors(const TensorFlowLibrary& library,
                                  Recorder* recorder);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_REGION_VISITORS_H_
