// What an op's name and the kind of its request say about what the memory is
// for. Lifetimes say the rest: roles.h puts both together.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_OP_PURPOSE_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_OP_PURPOSE_H_

#include <cstddef>
#include <string_view>

namespace oom_forensics {

enum class OpPurpose {
  // The name does not tell.
  kUnknown,
  // Creates, reads or assigns a variable.
  kVariable,
  // Creates a slot of an optimizer (a momentum).
  kOptimizerSlot,
  // Computes or writes inside an optimizer's update. What lives on is a slot.
  kOptimizerUpdate,
  // Writes a variable inside an optimizer's update. What lives on is the
  // variable.
  kVariableUpdate,
  // Computes a gradient.
  kGradient,
  // A forward op in the scope of a layer.
  kForward,
  // Belongs to the input pipeline.
  kInput,
  // Asked for scratch space, for as long as the op runs.
  kWorkspace,
};

// What is recorded of the request beside the op's name.
struct RequestKind {
  // "temp", "output", "persist", ...; empty: not recorded.
  std::string_view region_type;
  // "float32", ...; empty: not recorded.
  std::string_view dtype;
  bool has_shape = false;
  size_t rank = 0;
  // The op ran eagerly: its name is its type and has no scope.
  bool eager = false;
  // The program says that the op is an optimizer's, whatever its name.
  bool of_optimizer = false;
};

// Whether an op that ran eagerly computes a gradient, by its type.
bool IsEagerGradientOp(std::string_view type);

OpPurpose PurposeOf(std::string_view op_name, const RequestKind& request);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_OP_PURPOSE_H_
