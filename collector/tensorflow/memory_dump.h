// What the collector itself reads out of a tensorflow.MemoryDump.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_MEMORY_DUMP_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_MEMORY_DUMP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/bfc.h"

namespace oom_forensics::collector {

struct MemoryDumpChunk {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint64_t requested_bytes = 0;
  bool in_use = false;
};

// The chunks of a bin of core/bfc.h.
struct MemoryDumpBin {
  uint64_t free_count = 0;
  uint64_t free_bytes = 0;
  uint64_t used_count = 0;
  uint64_t used_bytes = 0;
};

struct MemoryDumpSummary {
  // For all chunks: what the allocator holds of the system's memory.
  uint64_t reserved_bytes = 0;
  uint64_t in_use_bytes = 0;
  // What was asked for of the chunks in use.
  uint64_t requested_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t largest_free_bytes = 0;
  uint64_t chunks_in_use = 0;
  uint64_t chunks_free = 0;
  std::array<MemoryDumpBin, kBinCount> bins = {};
};

// Sums up a serialised MemoryDump. All zero if it is not one.
MemoryDumpSummary SummarizeMemoryDump(std::string_view serialized);

// Calls visit(const MemoryDumpChunk&) for each chunk. False if `serialized` is
// not a MemoryDump; chunks before its fault have been visited then.
bool ForEachChunk(std::string_view serialized,
                  const std::function<void(const MemoryDumpChunk&)>& visit);

// The same dump with every chunk's address replaced by disguise(address).
std::string ReplaceAddresses(
    std::string_view serialized,
    const std::function<uint64_t(uint64_t address)>& disguise);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_MEMORY_DUMP_H_
