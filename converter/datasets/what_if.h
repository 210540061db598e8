// WHAT_IF: the recorded requests under other settings.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerWhatIf(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_H_
