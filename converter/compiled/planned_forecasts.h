// Forecasts of functions that XLA compiles: a run of a module in them becomes
// what the module asks for.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_PLANNED_FORECASTS_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_PLANNED_FORECASTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "converter/trace/host_trace.h"

namespace oom_forensics {

// A site of a forecast that stands for a run of a module.
struct ModuleRun {
  // Index into ForecastTrace::sites.
  size_t site = 0;
  std::string module_name;
  uint64_t program_id = 0;
};

// Puts what the modules ask for in the place of their runs. Where the step is
// no more than one run of a module, there is an order for each of the two ways
// in which it may go (module_plan.h); elsewhere all results lie beside the
// arguments. Where the trace does not have a module, the forecast says so in
// its reason. `trace` has been read but for its forecasts.
void PlanRuns(const std::vector<ModuleRun>& runs, HostTrace* trace,
              ForecastTrace* forecast);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_PLANNED_FORECASTS_H_
