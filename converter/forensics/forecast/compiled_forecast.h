// The forecast of a step that XLA compiled.
//
// The ops of its graph ask for nothing then: all that the step will ask for is
// planned in its buffer assignment, and so known before it runs.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_COMPILED_FORECAST_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_COMPILED_FORECAST_H_

#include <memory>

#include "converter/replay/allocator_replay.h"
#include "converter/trace/forecast_trace.h"

namespace oom_forensics {

// The forecast of the step whose request failed: `graph`, which is that of its
// ops, or XLA's plan in place of it.
std::shared_ptr<const ForecastTrace> ForecastAsCompiled(
    const AllocatorReplay& replay, Row failure, const ForecastTrace& graph);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_COMPILED_FORECAST_H_
