// Who keeps live allocations, as messages.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_SOURCE_MESSAGES_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_SOURCE_MESSAGES_H_

#include <vector>

#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// What keeps these live allocations (kAlloc rows), the largest first.
void AddKeepers(const SelectedAllocator& allocator,
                const std::vector<Row>& live,
                google::protobuf::RepeatedPtrField<Keeper>* keepers);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_SOURCE_MESSAGES_H_
