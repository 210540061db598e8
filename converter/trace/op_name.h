// The parts of a TensorFlow op's name.
//
//   StatefulPartitionedCall/gradient_tape/model/dense/MatMul/MatMul_1
//   '------ reached by ---' '- kind of -' '- layer -' '- op it is the
//                              path                      gradient of -' '-op'
//
// The same layer appears under many prefixes: the call that ran it, the body of
// a loop, the tape that computes its gradient. The layer path is what is left
// without them, so that all memory of a layer is found under one scope.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_OP_NAME_H_
#define OOM_FORENSICS_CONVERTER_TRACE_OP_NAME_H_

#include <string_view>

namespace oom_forensics {

// "StatefulPartitionedCall/sequential_1/dense_1/MatMul_2" without the names of
// the calls and control-flow bodies it was reached through, and of the graph
// optimizer that rewrote it: "sequential_1/dense_1/MatMul_2".
std::string_view StripCallPrefix(std::string_view op_name);

// Whether the name says that the op computes a gradient.
bool IsGradientName(std::string_view op_name);

// The name from the layer on, as the model has it: without call prefix and
// without what marks a gradient. Of a gradient it ends with the op of the
// forward pass and the op of the gradient:
// "sequential_1/dense_1/MatMul/MatMul".
std::string_view LayerPath(std::string_view op_name);

// The scope, "sequential_1/dense_1", of forward and gradient ops alike; empty
// where the op is in none.
std::string_view ScopeOf(std::string_view op_name);

// "replica_1": which of tf.distribute's replicas ran the op; empty where it was
// the first one, whose ops bear no mark, or none.
std::string_view ReplicaOf(std::string_view op_name);

// The last part without its number: "MatMul".
std::string_view OpTypeOf(std::string_view op_name);

// A part of a name without the number that makes it unique: "dense_1" is
// "dense".
std::string_view WithoutNumber(std::string_view part);

// Whether `op_name` is at or below `scope` (which may have a call prefix or a
// "/" at its end). Every op is below the empty scope.
bool IsInScope(std::string_view op_name, std::string_view scope);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_OP_NAME_H_
