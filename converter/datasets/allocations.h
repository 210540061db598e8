// ALLOCATIONS: the live set of a moment, or what lived in a range.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATIONS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATIONS_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerAllocations(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATIONS_H_
