// Makes what XLA asked for readable: which allocation of which module a request
// was for, a name for it, and what lies in it.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_COMPILED_BLOCKS_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_COMPILED_BLOCKS_H_

#include "converter/trace/host_trace.h"

namespace oom_forensics {

// Call it once, when all of the trace is read. Sites of XLA's requests get the
// function as their scope ("one_step_on_data/xla_temp"); block_parts is filled
// with what lies in each block at its peak.
void NameCompiledBlocks(HostTrace* trace);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_COMPILED_BLOCKS_H_
