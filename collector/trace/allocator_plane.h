// The plane of one allocator in a trace, in the form that proto/event_schema.h
// defines.
#ifndef OOM_FORENSICS_COLLECTOR_TRACE_ALLOCATOR_PLANE_H_
#define OOM_FORENSICS_COLLECTOR_TRACE_ALLOCATOR_PLANE_H_

#include <set>
#include <string>
#include <vector>

#include "collector/recording/allocator_table.h"
#include "collector/recording/recorder.h"
#include "collector/recording/site_interner.h"
#include "collector/recording/stack_table.h"

namespace oom_forensics::collector {

struct SessionFacts;

// Appends the plane to `space`, and adds the stacks that it refers to to
// `used_stacks`.
void WriteAllocatorPlane(const SessionFacts& session, const AllocatorInfo& info,
                         const Recording& recording,
                         const std::vector<const Site*>& sites,
                         std::set<StackId>* used_stacks, std::string* space);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TRACE_ALLOCATOR_PLANE_H_
