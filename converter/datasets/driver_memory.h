// DRIVER_MEMORY: a CUDA device's memory as the driver sees it, by kind, pool
// and source; TensorFlow's pools inside it, and the gap beside them.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_DRIVER_MEMORY_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_DRIVER_MEMORY_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerDriverMemory(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_DRIVER_MEMORY_H_
