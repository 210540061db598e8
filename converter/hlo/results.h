// What a run of a module gives back.
#ifndef OOM_FORENSICS_CONVERTER_HLO_RESULTS_H_
#define OOM_FORENSICS_CONVERTER_HLO_RESULTS_H_

#include <cstdint>
#include <vector>

#include "converter/hlo/hlo_graph.h"
#include "converter/hlo/live_ranges.h"

namespace oom_forensics {

// The buffer that is the element `output_index` of the module's (nested)
// result, as index into HloGraph::buffers; kNoHloIndex: it cannot be followed
// to one.
uint32_t BufferOfResult(const HloGraph& graph, const LiveRanges& ranges,
                        const std::vector<int64_t>& output_index);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_HLO_RESULTS_H_
