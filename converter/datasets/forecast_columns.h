// The forecast step over its program order, by layer.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_FORECAST_COLUMNS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_FORECAST_COLUMNS_H_

#include <cstdint>

#include "converter/trace/host_trace.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Fills layers and columns of `answer` from the forecast's first order.
// `live_bytes` was in use before the step.
void FillForecastColumns(const HostTrace& host, const ForecastTrace& forecast,
                         uint64_t live_bytes, uint32_t columns,
                         StepForecast* answer);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_FORECAST_COLUMNS_H_
