// Reads a serialized xla.HloProto: a module with its buffer assignment.
#ifndef OOM_FORENSICS_CONVERTER_READER_HLO_READER_H_
#define OOM_FORENSICS_CONVERTER_READER_HLO_READER_H_

#include <string_view>

#include "converter/hlo/hlo_graph.h"
#include "converter/quality/quality_log.h"

namespace oom_forensics {

// The module, with views into `proto`. What does not fit together (an operand
// or a buffer that there is not) is left out and counted. Empty where it has no
// buffer assignment.
HloGraph ReadHloModule(std::string_view proto, QualityLog* quality);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_HLO_READER_H_
