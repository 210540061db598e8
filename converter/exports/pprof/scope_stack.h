// The name scopes of an op as a stack of calls.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_SCOPE_STACK_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_SCOPE_STACK_H_

#include <string_view>
#include <vector>

namespace oom_forensics {

// Leaf first: the op by its whole path from the layer on, then each scope by
// its whole path too, so that two layers of one name stay two.
// "StatefulPartitionedCall/model/dense/MatMul" is
// {"model/dense/MatMul", "model/dense", "model"}. Views of `op_name`.
std::vector<std::string_view> ScopeStack(std::string_view op_name);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PPROF_SCOPE_STACK_H_
