// The shapes that ops of a trace asked for, from which the batch is told
// (batch_dimension.h).
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_RECORDED_SHAPES_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_RECORDED_SHAPES_H_

#include <optional>
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

// The batch that they show. Nothing where they show none clearly, or another
// than the forecast of the step that was refused memory at `last` knows.
std::optional<BatchDimension> RecordedBatch(const AllocatorReplay& replay,
                                            const RoleClassifier& roles,
                                            const std::vector<Row>& live,
                                            Row last);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_RECORDED_SHAPES_H_
