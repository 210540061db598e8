// ADDRESS_HISTORY: which addresses were in use when, as a picture.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_ADDRESS_HISTORY_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_ADDRESS_HISTORY_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerAddressHistory(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_ADDRESS_HISTORY_H_
