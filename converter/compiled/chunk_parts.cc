#include "converter/compiled/chunk_parts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/text/text.h"
#include "core/bfc.h"

namespace oom_forensics {

std::vector<ChunkPart> PartsOfChunk(const AllocationSite& block,
                                    std::string_view function,
                                    const CompiledAllocation& allocation,
                                    ProgramPoint point) {
  const uint64_t rest_bytes = block.allocated_bytes - block.requested_bytes;
  std::vector<ChunkPart> parts;
  for (const BlockPart& lies : allocation.PartsAt(point)) {
    ChunkPart part{lies.buffer, lies.offset_bytes, lies.size_bytes,
                   lies.size_bytes, ""};
    if (lies.buffer == BlockPart::kUnused) {
      part.op_name = absl::StrCat(Absl(function), "/xla_unused");
    } else {
      const CompiledBuffer& buffer = allocation.buffers[lies.buffer];
      part.op_name = buffer.op_name.empty()
                         ? absl::StrCat(Absl(function), "/", buffer.opcode)
                         : buffer.op_name;
    }
    parts.push_back(std::move(part));
  }
  if (rest_bytes >= kMinAllocationBytes) {
    parts.push_back({BlockPart::kUnused, block.requested_bytes, 0, rest_bytes,
                     absl::StrCat(Absl(function), "/allocator_rest")});
  } else if (!parts.empty()) {
    // What the allocator rounded up by lies behind the last one.
    parts.back().allocated_bytes += rest_bytes;
  }
  return parts;
}

}  // namespace oom_forensics
