// The address space of an allocator at one moment: regions, and in each its
// chunks in use with the holes between them, without gaps.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_CHUNK_MAP_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_CHUNK_MAP_H_

#include <cstdint>
#include <vector>

#include "converter/trace/allocator_trace.h"

namespace oom_forensics {

struct MappedRegion {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  // Not recorded, but implied by a chunk outside all recorded regions.
  bool derived = false;
  // Set by BuildChunkMap.
  uint64_t free_bytes = 0;
  uint64_t largest_free_bytes = 0;
  uint32_t first_chunk = 0;  // Index into ChunkMap::chunks.
  uint32_t chunk_count = 0;
};

struct MappedChunk {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  // The allocation's kAlloc row; kNoRow: free.
  Row row = kNoRow;
  // Index into ChunkMap::regions.
  uint32_t region = 0;

  bool is_free() const { return row == kNoRow; }
};

struct ChunkMap {
  // Both by address.
  std::vector<MappedRegion> regions;
  std::vector<MappedChunk> chunks;
  uint64_t reserved_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t largest_free_bytes = 0;
  uint64_t free_chunk_count = 0;
  // Chunks that lie outside the recorded regions, or over another chunk.
  uint64_t outside_count = 0;
  uint64_t overlap_count = 0;
};

// A live chunk as the map's builder needs it.
struct LiveChunk {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  Row row = kNoRow;
};

// `regions` and `live` by address. Two regions that touch and that one chunk
// spans are one (an allocator may extend a region in place). A chunk outside
// all regions gets one of its own, marked derived; of two that overlap the part
// that the first does not cover belongs to the second.
ChunkMap BuildChunkMap(std::vector<MappedRegion> regions,
                       const std::vector<LiveChunk>& live);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_CHUNK_MAP_H_
