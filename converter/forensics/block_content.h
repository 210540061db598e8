// What a compiled block is needed for: what lies in it at its own peak, by
// layer and role, and in a sentence.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_BLOCK_CONTENT_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_BLOCK_CONTENT_H_

#include <string>

#include "converter/forensics/roles.h"
#include "converter/trace/host_trace.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Finds the content of an allocation of the module at a program point.
BlockContent ContentOf(const CompiledAllocation& allocation,
                       ProgramPoint point);

// Who asked, in words: "compiled step `one_step_on_data` (XLA), its temporary
// block". Empty where XLA did not ask.
std::string WhoAsked(const HostTrace& host, const AllocationSite& site);

// What the op's name and the buffer's type say that it is for.
Role RoleOfBuffer(const CompiledBuffer& buffer);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_BLOCK_CONTENT_H_
