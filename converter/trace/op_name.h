// The parts of a TensorFlow op's name.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_OP_NAME_H_
#define OOM_FORENSICS_CONVERTER_TRACE_OP_NAME_H_

#include <string_view>

namespace oom_forensics {

// "StatefulPartitionedCall/sequential_1/dense_1/MatMul_2" without the names of
// the calls it was reached through: "sequential_1/dense_1/MatMul_2".
std::string_view StripCallPrefix(std::string_view op_name);

// The scope, "sequential_1/dense_1"; empty where the op is in none.
std::string_view ScopeOf(std::string_view op_name);

// The last part without its number: "MatMul".
std::string_view OpTypeOf(std::string_view op_name);

// Whether `op_name` is at or below `scope` (which may have a call prefix or a
// "/" at its end). Every op is below the empty scope.
bool IsInScope(std::string_view op_name, std::string_view scope);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_OP_NAME_H_
