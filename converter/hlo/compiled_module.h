// A compiled module's memory: its allocations, the buffers that were assigned
// to places in them, and when each of those is live. What an HloGraph comes to;
// it owns its texts.
//
//   module ─▶ allocations ─▶ buffers {op, shape, offset, size, live range}
//
// Buffers that are never live together share places. So of an allocation there
// is a *peak*: the program point at which most of its bytes are live.
#ifndef OOM_FORENSICS_CONVERTER_HLO_COMPILED_MODULE_H_
#define OOM_FORENSICS_CONVERTER_HLO_COMPILED_MODULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "converter/hlo/hlo_graph.h"
#include "converter/hlo/live_ranges.h"

namespace oom_forensics {

// As event_schema.h names them in kBufferKind.
enum class BufferKind : uint8_t {
  kTemp,
  kOutput,
  kParameter,
  kConstant,
  kThreadLocal,
};
std::string_view BufferKindName(BufferKind kind);
// kTemp for a name that there is not.
BufferKind BufferKindOf(std::string_view name);

struct CompiledBuffer {
  // The TensorFlow op, "mix_0/dense_1/MatMul"; empty: XLA's own.
  std::string op_name;
  // The HLO instruction that defines it, and its kind of instruction.
  std::string instruction;
  std::string opcode;
  // The instruction that reads it last; empty: none does.
  std::string last_user;
  // "[1024,256]"
  std::string shape;
  // tensorflow.DataType; 0: it has none.
  int32_t dtype = 0;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
  LiveRange live;
  // Made by the forward pass, and read last by the backward pass.
  bool held_for_backward = false;
  // The module has ops that compute the gradient of its op.
  bool has_gradient = false;
  // The program says that its op is an optimizer's.
  bool of_optimizer = false;
};

// A part of an allocation at one program point: a buffer, or what none uses.
struct BlockPart {
  static constexpr uint32_t kUnused = kNoHloIndex;
  uint32_t buffer = kUnused;  // Index into CompiledAllocation::buffers.
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;
};

// From a program point on.
struct LiveBytes {
  ProgramPoint point = 0;
  uint64_t bytes = 0;
};

struct CompiledAllocation {
  int64_t index = 0;
  BufferKind kind = BufferKind::kTemp;
  uint64_t size_bytes = 0;
  // Set for kParameter only.
  int64_t parameter_number = 0;
  std::vector<CompiledBuffer> buffers;
  ProgramPoint peak = 0;

  // The bytes of the buffers that are live, each place counted once, from each
  // point on at which they change.
  std::vector<LiveBytes> LiveOver() const;
  // What lies in the allocation at a program point, in the order of offsets,
  // without gaps and without overlap: the sizes add up to size_bytes. Of
  // buffers that share a place and are live together (a loop's value before,
  // in and after it) the one that was defined last.
  std::vector<BlockPart> PartsAt(ProgramPoint point) const;
  // Bytes of the buffers among them.
  uint64_t LiveBytesAt(ProgramPoint point) const;
};

struct ProgramStep {
  std::string instruction;
  std::string op_name;
};

struct CompiledModule {
  std::string name;
  // As the user wrote it: "one_step_on_data".
  std::string function;
  uint64_t program_id = 0;
  // How long it took to compile; 0: not known.
  uint64_t compile_ns = 0;
  std::vector<ProgramStep> program;
  std::vector<CompiledAllocation> allocations;
  // Results that take the memory of an argument, as XLA asks for them where
  // they may not: each an output of its own, with the index of the argument's
  // allocation; in the order in which a run asks, after its plan.
  std::vector<CompiledAllocation> fresh_results;
  // The order of execution is in the file. Without it all buffers of an
  // allocation count as live together, and each hides those it lies on.
  bool has_schedule = false;
  // More than is ever looked at: some live ranges may end too early.
  bool ranges_cut = false;
  // More than is ever repeated: some names are left out.
  bool texts_left_out = false;

  uint64_t BytesOf(BufferKind kind) const;
  // Null where there is none of that index.
  const CompiledAllocation* AllocationOf(int64_t index) const;
  // Memory held.
  uint64_t ResidentBytes() const;
};

CompiledModule MakeCompiledModule(const HloGraph& graph, uint64_t program_id);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_HLO_COMPILED_MODULE_H_
