// FRAGMENTATION: fragmentation over time, and the address map of a moment.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_FRAGMENTATION_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_FRAGMENTATION_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerFragmentation(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_FRAGMENTATION_H_
