// CompiledOrigin: which part of which compiled function (XLA) an allocation is.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_COMPILED_ORIGIN_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_COMPILED_ORIGIN_H_

#include <cstdint>
#include <string_view>

namespace oom_forensics::collector {

inline constexpr int64_t kNoProgram = -1;
inline constexpr int64_t kNoBufferAllocation = -1;

// Nothing of it is known of what XLA did not ask for.
struct CompiledOrigin {
  // As a person knows it: "one_step_on_data".
  std::string_view function;
  // xla::HloModule's name() and unique_id().
  std::string_view module;
  int64_t program_id = kNoProgram;
  // Name of the op that ran the function.
  std::string_view launch_op;
  // Index in the module's BufferAssignment.
  int64_t buffer_allocation = kNoBufferAllocation;
  // "temp" or "output".
  std::string_view buffer_kind;

  bool empty() const { return module.empty() && launch_op.empty(); }

  bool operator==(const CompiledOrigin& other) const {
    return program_id == other.program_id &&
           buffer_allocation == other.buffer_allocation &&
           module == other.module && launch_op == other.launch_op &&
           buffer_kind == other.buffer_kind && function == other.function;
  }
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_COMPILED_ORIGIN_H_
