// TensorFlow's own chunk map, the independent witness of the replay.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_DUMP_COMPARISON_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_DUMP_COMPARISON_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

// A chunk of tensorflow.MemoryDump (tsl/protobuf/bfc_memory_map.proto).
struct DumpedChunk {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint64_t requested_bytes = 0;
  bool in_use = false;
  std::string op_name;
  uint64_t step_id = 0;
};

// The chunks of a serialized MemoryDump, by address. Empty where the bytes are
// none.
std::vector<DumpedChunk> ParseMemoryDump(std::string_view dump);

struct MapDifference {
  uint64_t dumped_chunks = 0;
  uint64_t different_chunks = 0;
  // The first difference in words; empty: there is none.
  std::string first;
};

// Compares the replayed map at a position with a dump of that moment, chunk for
// chunk: address, size, requested size, in use or free.
MapDifference CompareWithDump(const AllocatorReplay& replay,
                              const ChunkMap& map,
                              const std::vector<DumpedChunk>& dump);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_DUMP_COMPARISON_H_
