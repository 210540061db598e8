// ALLOCATION_LIFE: one allocation, and its neighbours in time.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_LIFE_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_LIFE_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerAllocationLife(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_LIFE_H_
