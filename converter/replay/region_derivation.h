// Regions of an allocator whose trace does not record them.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_REGION_DERIVATION_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_REGION_DERIVATION_H_

#include <vector>

#include "converter/trace/host_trace.h"

namespace oom_forensics {

// The address ranges that the trace's allocations ever covered, as regions that
// are there from the start. Ranges nearer to each other than the smallest
// region that the allocator takes (2 MiB) are one: such a gap is a hole.
std::vector<RegionChange> DeriveRegions(const HostTrace& host,
                                        const AllocatorTrace& trace);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_REGION_DERIVATION_H_
