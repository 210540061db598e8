// The modules that XLA compiled, as a plane in the form of TensorFlow's
// profiler (proto/event_schema.h, kModulesPlane).
#ifndef OOM_FORENSICS_COLLECTOR_TRACE_MODULES_PLANE_H_
#define OOM_FORENSICS_COLLECTOR_TRACE_MODULES_PLANE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/recording/recording.h"
#include "collector/recording/site_interner.h"
#include "collector/xla/module_protos.h"

namespace oom_forensics::collector {

// The program ids of the modules that `recording` names, those first that are
// missed most: of refused requests, then of what is live at its end, largest
// first, then of what has come and gone. `sites` is SiteInterner::Snapshot().
std::vector<int64_t> ProgramsByNeed(const Recording& recording,
                                    const std::vector<const Site*>& sites);

// The plane of as many of `modules` as fit into `max_bytes`: those of
// `programs` in their order, then the others, smallest first. `why_not` says
// why there are none to choose from, if that is so. A serialised XSpace of one
// plane; empty if XLA plays no part in the recording.
std::string WriteModulesPlane(const std::vector<int64_t>& programs,
                              const std::vector<ModuleProto>& modules,
                              uint64_t max_bytes, const std::string& why_not);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TRACE_MODULES_PLANE_H_
