// LEAKS: what is kept though it should have gone (forensics/leak_finder.h).
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_LEAKS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_LEAKS_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerLeaks(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_LEAKS_H_
