// COMPARE: two moments of a run, or of two runs, site by site.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_COMPARE_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_COMPARE_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerCompare(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_COMPARE_H_
