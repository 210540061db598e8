// COMPILED_MODULES: what XLA compiled, and the memory of one module over its
// program.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_COMPILED_MODULES_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_COMPILED_MODULES_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerCompiledModules(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_COMPILED_MODULES_H_
