// Allocations as slices from birth to death, for Perfetto.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_ALLOCATION_SLICES_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_ALLOCATION_SLICES_H_

#include <cstdint>

#include "converter/datasets/selection.h"
#include "converter/exports/perfetto/track_event_writer.h"

namespace oom_forensics {

// Adds the allocations that the filter keeps and that lived in `range` (cut to
// it) below `parent`. Of more than `limit` those of the largest bytes times
// lifetime; the track's name then says how many there were.
void AddAllocationSlices(const SelectedAllocator& allocator,
                         const Filter& filter, const NsRange& range,
                         uint32_t limit, TrackId parent,
                         TrackEventWriter* writer);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_ALLOCATION_SLICES_H_
