// STEPS: the use of memory by training step.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_STEPS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_STEPS_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerSteps(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_STEPS_H_
