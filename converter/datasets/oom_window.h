// OOM_WINDOW: each OOM, with what led to it.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_OOM_WINDOW_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_OOM_WINDOW_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerOomWindow(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_OOM_WINDOW_H_
