// A step that was recorded to its end, as a forecast of another one like it:
// where there is no graph to simulate, and for a rehearsal.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_RECORDED_STEP_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_RECORDED_STEP_H_

#include <cstdint>
#include <optional>

#include "converter/forensics/forecast/step_forecast.h"
#include "converter/forensics/roles.h"
#include "converter/replay/allocator_replay.h"
#include "converter/trace/forecast_trace.h"

namespace oom_forensics {

struct RecordedStep {
  int64_t number = 0;
  // Its requests in the one order that was recorded, each scaled by the batch
  // where the shapes tell it.
  ForecastTrace forecast;
  // What was live before it and stayed.
  PoolBeforeStep pool;
};

// The step of highest use among those that ended before `end`; nothing where no
// step is recorded whole.
std::optional<RecordedStep> HeaviestStep(const AllocatorReplay& replay,
                                         const RoleClassifier& roles,
                                         Position end);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_RECORDED_STEP_H_
