// What an execution of a compiled module asks its allocator for: the buffer
// allocations of its BufferAssignment that it does not get from elsewhere, in
// their order (CpuExecutable::CreateBufferTable,
// GpuExecutable::GenerateBufferAllocations).
#ifndef OOM_FORENSICS_COLLECTOR_XLA_BUFFER_REQUESTS_H_
#define OOM_FORENSICS_COLLECTOR_XLA_BUFFER_REQUESTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace oom_forensics::collector {

struct BufferRequest {
  // In the BufferAssignment.
  int64_t index = 0;
  uint64_t bytes = 0;
  // "temp" or "output".
  const char* kind = "";
};

struct BufferPlan {
  std::vector<BufferRequest> requests;
  // The bytes of the constants, which lie in the module itself.
  uint64_t constant_bytes = 0;
};

// Reads a serialized xla.BufferAssignmentProto. Empty if its form is not known.
BufferPlan PlanOf(std::string_view buffer_assignment);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_XLA_BUFFER_REQUESTS_H_
