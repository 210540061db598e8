// An HLO module as XLA compiled it, as far as its memory needs it: the
// instructions of every computation, their order, and which buffers were
// assigned to which allocations. (xla/service/hlo.proto explains the terms.)
//
// It lives only while a module is read: its texts are views into the file, or
// into `cleaned_texts` where the file's are not valid.
// compiled_module.h is what stays.
#ifndef OOM_FORENSICS_CONVERTER_HLO_HLO_GRAPH_H_
#define OOM_FORENSICS_CONVERTER_HLO_HLO_GRAPH_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics {

// Index into HloGraph::instructions, or ::computations.
using HloIndex = uint32_t;
inline constexpr HloIndex kNoHloIndex = std::numeric_limits<HloIndex>::max();

struct HloInstruction {
  std::string_view name;
  std::string_view opcode;
  // The TensorFlow op that it was made for; empty: XLA made it itself.
  std::string_view op_name;
  // Set for a get-tuple-element only.
  int64_t tuple_index = 0;
  // Set for a parameter only.
  int64_t parameter_number = 0;
  HloIndex computation = kNoHloIndex;
  std::vector<HloIndex> operands;
  std::vector<HloIndex> called;
};

struct HloComputation {
  HloIndex root = kNoHloIndex;
  std::vector<HloIndex> instructions;
  // In the order in which they run; empty: not scheduled by itself.
  std::vector<HloIndex> sequence;
};

// A value that an instruction defines, at one place of its result.
struct HloBuffer {
  int64_t id = 0;
  HloIndex instruction = kNoHloIndex;
  // Which element of a (nested) tuple; empty: the whole result.
  std::vector<int64_t> shape_index;
  // xla.PrimitiveType.
  int64_t element_type = 0;
  std::vector<int64_t> dims;
};

// A buffer's place in an allocation.
struct HloAssignment {
  uint32_t buffer = 0;  // Index into HloGraph::buffers.
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
};

struct HloAllocation {
  int64_t index = 0;
  uint64_t size_bytes = 0;
  bool is_parameter = false;
  bool is_constant = false;
  bool is_thread_local = false;
  bool maybe_live_out = false;
  int64_t parameter_number = 0;
  std::vector<HloAssignment> assigned;
};

// A result of the module that may be written over one of its arguments.
struct HloAlias {
  // Which element of the (nested) result.
  std::vector<int64_t> output_index;
  int64_t parameter_number = 0;
};

struct HloGraph {
  std::string_view name;
  HloIndex entry = kNoHloIndex;
  std::vector<HloInstruction> instructions;
  std::vector<HloComputation> computations;
  std::vector<HloBuffer> buffers;
  std::vector<HloAllocation> allocations;
  std::vector<HloAlias> aliases;
  std::deque<std::string> cleaned_texts;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_HLO_HLO_GRAPH_H_
