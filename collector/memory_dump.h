// What the collector itself reads out of a tensorflow.MemoryDump.
#ifndef OOM_FORENSICS_COLLECTOR_MEMORY_DUMP_H_
#define OOM_FORENSICS_COLLECTOR_MEMORY_DUMP_H_

#include <cstdint>
#include <string_view>

namespace oom_forensics::collector {

struct MemoryDumpSummary {
  // Of all chunks: what the allocator holds of the system's memory.
  uint64_t reserved_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t largest_free_bytes = 0;
  uint64_t chunks_in_use = 0;
};

// Sums up a serialised MemoryDump. All zero if it is not one.
MemoryDumpSummary SummarizeMemoryDump(std::string_view serialized);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_MEMORY_DUMP_H_
