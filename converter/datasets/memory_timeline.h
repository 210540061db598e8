// MEMORY_TIMELINE: memory over time, at the asked width.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_MEMORY_TIMELINE_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_MEMORY_TIMELINE_H_

#include "converter/datasets/dataset.h"

namespace oom_forensics {

absl::StatusOr<DatasetMessage> AnswerMemoryTimeline(const DatasetInput& input);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_MEMORY_TIMELINE_H_
