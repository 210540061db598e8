// INFO: what is in a run, which sources it has, and what is missing.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_INFO_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_INFO_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

// As the package states it.
inline constexpr char kConverterVersion[] = "0.1.0";

absl::StatusOr<DatasetMessage> AnswerInfo(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_INFO_H_
