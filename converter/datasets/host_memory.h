// HOST_MEMORY: the memory of the host over time, who holds it, and how the
// process ended.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_HOST_MEMORY_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_HOST_MEMORY_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerHostMemory(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_HOST_MEMORY_H_
