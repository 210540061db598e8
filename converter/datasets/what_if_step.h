// What the whole of a step needs that was refused memory, for WHAT_IF: the
// trace has its requests only up to the refusal.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_STEP_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_STEP_H_

#include <optional>

#include "converter/datasets/what_if_pool.h"
#include "converter/forensics/forecast/step_forecast.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Of the allocator's first OOM, under what the question changes. Nothing: there
// is none, or it is not known.
std::optional<Need> NeedOfRefusedStep(const WhatIfPool& pool,
                                      const WhatIfSettings& settings,
                                      const Scenario& scenario);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_STEP_H_
