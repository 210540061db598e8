// A step that was recorded to its end, as a forecast of another one like it:
// where there is no graph to simulate, and for a rehearsal.
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_RECORDED_STEP_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_RECORDED_STEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "converter/counterfactual/step_stream.h"
#include "converter/forensics/batch_dimension.h"
#include "converter/forensics/roles.h"
#include "converter/forensics/step_index.h"
#include "converter/replay/allocator_replay.h"
#include "converter/trace/forecast_trace.h"

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

// The ForecastTrace.function of a whole recording that replaces a step.
inline constexpr char kWholeRecording[] = "all that was recorded";

struct RecordedStep {
  // Its requests in the one order that was recorded, each scaled by the batch
  // where the shapes tell it.
  ForecastTrace forecast;
  // What was recorded before it; what it gave back of that it asks for itself.
  StepStream stream;
};

// The requests of a step and what becomes of them, in the order in which they
// were recorded, with those of `taken`, which are older, before them. Its
// step_id is the step's number.
ForecastTrace RecordedForecast(const AllocatorReplay& replay,
                               const std::optional<BatchDimension>& batch,
                               const StepSpan& rows,
                               const std::vector<Row>& taken);

// The step of highest use in a recording that no out-of-memory ended. Where
// nobody marked its steps, all of it; nothing where that is too much to
// replay, or the pool's layout is not known.
std::optional<RecordedStep> HeaviestStep(const AllocatorReplay& replay,
                                         const RoleClassifier& roles,
                                         uint64_t limit_bytes);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_RECORDED_STEP_H_
