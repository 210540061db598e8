// The shapes that ops of a trace asked for, from which the batch is told
// (batch_dimension.h).
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_RECORDED_SHAPES_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_RECORDED_SHAPES_H_

#include <vector>

#include "converter/forensics/batch_dimension.h"
#include "converter/forensics/roles.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

// Each op and shape once, of all rows up to and including `last` (not beyond
// the trace's end), weighed by what `live` (kAlloc rows) has of it. The texts
// are the host's.
std::vector<ShapeUse> RecordedShapes(const AllocatorReplay& replay,
                                     const RoleClassifier& roles,
                                     const std::vector<Row>& live, Row last);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_RECORDED_SHAPES_H_
