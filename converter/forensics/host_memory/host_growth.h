// How fast the memory of a process grew at last, and which lines of the program
// made what grew.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_GROWTH_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_GROWTH_H_

#include <cstdint>
#include <vector>

#include "converter/replay/allocator_replay.h"
#include "converter/trace/host_trace.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Whether the limit, or the machine without one, is nearly used up at the end.
bool IsShort(const HostMemoryTrace& memory);

// Growth of what the process has for itself, over [from_ns, to_ns].
struct HostGrowth {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  uint64_t bytes = 0;
  // 0: it does not grow, or for too short a time to say so.
  uint64_t bytes_per_s = 0;
};
HostGrowth GrowthAtLast(const HostMemoryTrace& memory);

// Live blocks of a line, and how the program came there where most of them were
// made: the user's frames around it, innermost first.
struct HeldByLine {
  HostMemoryHolder holder;
  // The largest of its blocks that were not drawn by chance.
  uint64_t largest_bytes = 0;
  // Its owner is an op.
  bool is_tensor = false;
  std::vector<SourceFrame> callers;
};

// How many tensors of so many bytes are live.
uint64_t CountTensorsOf(const HostTrace& host, const AllocatorReplay& blocks,
                        uint64_t bytes);

// Who holds the live blocks, by line of the program, the largest first; at most
// `limit`. What grew, grew within `growth`.
std::vector<HeldByLine> HoldersByLine(const HostTrace& host,
                                      const AllocatorReplay& blocks,
                                      const HostGrowth& growth, size_t limit);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_GROWTH_H_
