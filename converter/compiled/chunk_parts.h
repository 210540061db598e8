// What lies in the chunk of a compiled block at a point of its program: its
// buffers, what none uses, and what the allocator gave beyond it.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_CHUNK_PARTS_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_CHUNK_PARTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "converter/hlo/compiled_module.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

struct ChunkPart {
  // Index into CompiledAllocation::buffers; BlockPart::kUnused: none.
  uint32_t buffer = BlockPart::kUnused;
  // From the chunk's address.
  uint64_t offset_bytes = 0;
  // 0: nobody asked for it.
  uint64_t requested_bytes = 0;
  uint64_t allocated_bytes = 0;
  // The buffer's op. What is unused at that point is "FUNCTION/xla_unused",
  // what the allocator did not split off the chunk "FUNCTION/allocator_rest".
  std::string op_name;
};

// In the order of offsets, without gaps: the allocated bytes add up to those of
// `block`, the site of a request for `allocation`.
std::vector<ChunkPart> PartsOfChunk(const AllocationSite& block,
                                    std::string_view function,
                                    const CompiledAllocation& allocation,
                                    ProgramPoint point);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_CHUNK_PARTS_H_
