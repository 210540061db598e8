// The address map of an allocator as an answer.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_ADDRESS_MAP_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_ADDRESS_MAP_H_

#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Regions, chunks, bins and measures at a position. Of chunks in use that the
// query's filter does not keep, only the place is stated, not the allocation.
void FillAddressMap(const SelectedAllocator& allocator, Position position,
                    const Query& query, AddressMap* message);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_ADDRESS_MAP_H_
