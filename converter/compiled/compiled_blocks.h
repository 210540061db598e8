// Makes what XLA asked for readable: which allocation of which module a request
// was for, a name for it, and what lies in it.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_COMPILED_BLOCKS_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_COMPILED_BLOCKS_H_

#include <string_view>

#include "converter/trace/host_trace.h"

namespace oom_forensics {

// The last part of the name of what is unused in a block at its peak; the scope
// is the function.
inline constexpr std::string_view kUnusedPart = "xla_unused";

// The same of what lies behind a block because the allocator did not split it
// off the chunk.
inline constexpr std::string_view kAllocatorRest = "allocator_rest";

// Call it once, when all of the trace is read. Sites of XLA's requests get the
// function as their scope ("one_step_on_data/xla_temp"); block_parts is filled.
void NameCompiledBlocks(HostTrace* trace);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_COMPILED_BLOCKS_H_
