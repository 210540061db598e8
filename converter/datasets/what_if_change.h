// What a WHAT_IF question makes different, in the words of the simulation.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_CHANGE_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_CHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/counterfactual/pool_simulation.h"
#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

struct WhatIfChange {
  // Keeps parts of the allocator that it was made of.
  Scenario scenario;
  // Sentences: how far requests of another size are known.
  std::vector<std::string> doubts;
};

// Fails where a setting makes no sense, or cannot be followed in this trace,
// with one sentence.
absl::StatusOr<WhatIfChange> MakeWhatIfChange(
    const SelectedAllocator& allocator, const WhatIfSettings& settings);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_CHANGE_H_
