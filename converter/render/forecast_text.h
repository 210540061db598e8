// FORECAST in plain text, for a terminal.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_FORECAST_TEXT_H_
#define OOM_FORENSICS_CONVERTER_RENDER_FORECAST_TEXT_H_

#include <string>

#include "converter/render/terminal_style.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Indented lines: the need, batch by batch, what is held at the peak. With
// `picture`, the step over its program order.
std::string RenderForecast(const StepForecast& forecast, bool picture,
                           const TerminalStyle& style);

// All of a run, with pictures.
std::string RenderForecasts(const std::string& run_name,
                            const Forecasts& forecasts,
                            const TerminalStyle& style);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_FORECAST_TEXT_H_
