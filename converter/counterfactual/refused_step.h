// The step of a request that was refused: the one stream that all that is told
// of an out-of-memory asks.
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_REFUSED_STEP_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_REFUSED_STEP_H_

#include <cstdint>
#include <memory>

#include "converter/counterfactual/counterfactual.h"
#include "converter/forensics/roles.h"
#include "converter/forensics/step_index.h"
#include "converter/replay/allocator_replay.h"
#include "converter/trace/forecast_trace.h"

namespace oom_forensics {

// The forecast of the step whose request failed: `graph`, which is that of its
// ops, or XLA's plan instead of it.
std::shared_ptr<const ForecastTrace> ForecastAsCompiled(
    const AllocatorReplay& replay, Row failure, const ForecastTrace& graph);

// As it was forecast, or XLA planned it. Where that is not known whole, or what
// happened contradicts it: as an earlier step like it went, of those that had
// ended by then. Null: neither is known.
// `limit_bytes`: what the pool may hold; 0: unknown. `order`: as of
// OrderBefore(); null: it is found.
std::shared_ptr<const Counterfactual> StepOfRefusal(
    const AllocatorReplay& replay, const RoleClassifier& roles, Row failure,
    uint64_t limit_bytes, const StepIndex& steps,
    std::shared_ptr<const ServingOrder> order);

// The first of these alone; `graph` is the trace's forecast of that step. It
// may know less than all of the step.
Counterfactual ForecastStepOfRefusal(const AllocatorReplay& replay,
                                     const RoleClassifier& roles, Row failure,
                                     uint64_t limit_bytes,
                                     const ForecastTrace& graph,
                                     std::shared_ptr<const ServingOrder> order);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_REFUSED_STEP_H_
