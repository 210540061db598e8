// The stack of an allocation for tools that show stacks: its op and the scopes
// of its name, then the lines of the user's program that led to it.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_CALL_STACK_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_CALL_STACK_H_

#include <string_view>
#include <vector>

#include "converter/trace/host_trace.h"

namespace oom_forensics {

struct StackPlace {
  // An op, a name scope or a function.
  std::string_view name;
  // Empty and 0: an op or a scope, which has no line.
  std::string_view file;
  uint32_t line = 0;
};

// Leaf first. Views of the host's texts.
std::vector<StackPlace> CallStack(const HostTrace& host,
                                  const AllocationSite& site);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_CALL_STACK_H_
