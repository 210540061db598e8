// The TensorFlow op that each HLO instruction stands for.
#ifndef OOM_FORENSICS_CONVERTER_HLO_OP_NAMES_H_
#define OOM_FORENSICS_CONVERTER_HLO_OP_NAMES_H_

#include <string_view>
#include <vector>

#include "converter/hlo/hlo_graph.h"
#include "converter/hlo/live_ranges.h"

namespace oom_forensics {

// By instruction: its own op where that lies in a scope; of a fusion else the
// last op of what was fused that does; of a copy and the like the op of what it
// copies, or of who reads it. Empty: none of them has one.
std::vector<std::string_view> OpNamesOf(const HloGraph& graph,
                                        const LiveRanges& ranges);

// The function that a module was compiled from, as its author wrote it:
// "one_step_on_data" of "a_inference_one_step_on_data_3049__.12", "cluster_4"
// of a cluster that TensorFlow made itself.
std::string_view FunctionOfModule(std::string_view module_name);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_HLO_OP_NAMES_H_
