// FORECAST: what the step that never ended would have needed, and what a step
// needs that was not begun (forensics/step_forecast.h).
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_FORECAST_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_FORECAST_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerForecast(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_FORECAST_H_
