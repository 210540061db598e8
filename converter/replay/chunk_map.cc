#include "converter/replay/chunk_map.h"

#include <algorithm>
#include <vector>

namespace oom_forensics {
namespace {

// Ends are inclusive, so that a region may reach to the last address.
uint64_t LastByte(uint64_t address, uint64_t size_bytes) {
  return address + (size_bytes - 1);
}

// Merges touching or overlapping regions where a chunk needs it, and adds
// regions for the chunks that no region covers.
std::vector<MappedRegion> CoverAll(std::vector<MappedRegion> regions,
                                   const std::vector<LiveChunk>& live,
                                   uint64_t* outside_count) {
  std::vector<MappedRegion> cover;
  size_t next = 0;
  const auto take_region = [&] {
    MappedRegion region = regions[next++];
    // Regions that overlap cannot be real; the later one is cut.
    if (!cover.empty()) {
      const uint64_t last =
          LastByte(cover.back().address, cover.back().size_bytes);
      if (region.address <= last) {
        const uint64_t region_last =
            LastByte(region.address, region.size_bytes);
        if (region_last <= last) return;
        region.address = last + 1;
        region.size_bytes = region_last - last;
      }
    }
    cover.push_back(region);
  };
  for (const LiveChunk& chunk : live) {
    const uint64_t chunk_last = LastByte(chunk.address, chunk.size_bytes);
    while (next < regions.size() && regions[next].address <= chunk.address) {
      take_region();
    }
    const bool inside =
        !cover.empty() && chunk.address <= LastByte(cover.back().address,
                                                    cover.back().size_bytes);
    if (!inside) {
      ++*outside_count;
      MappedRegion derived;
      derived.address = chunk.address;
      derived.size_bytes = chunk.size_bytes;
      derived.derived = true;
      // A derived region grows with the chunks that follow without a gap.
      if (!cover.empty() && cover.back().derived &&
          LastByte(cover.back().address, cover.back().size_bytes) + 1 ==
              chunk.address) {
        cover.back().size_bytes += chunk.size_bytes;
      } else {
        cover.push_back(derived);
      }
      continue;
    }
    // The chunk may reach over the end of its region into the next.
    while (LastByte(cover.back().address, cover.back().size_bytes) <
           chunk_last) {
      const uint64_t last =
          LastByte(cover.back().address, cover.back().size_bytes);
      if (next < regions.size() && regions[next].address <= last + 1) {
        const MappedRegion& following = regions[next++];
        const uint64_t following_last =
            LastByte(following.address, following.size_bytes);
        if (following_last > last)
          cover.back().size_bytes += following_last - last;
      } else {
        ++*outside_count;
        cover.back().size_bytes += chunk_last - last;
      }
    }
  }
  while (next < regions.size()) take_region();
  return cover;
}

class MapWriter {
 public:
  explicit MapWriter(ChunkMap* map) : map_(*map) {}

  void BeginRegion(uint32_t region) {
    region_ = region;
    map_.regions[region].first_chunk =
        static_cast<uint32_t>(map_.chunks.size());
    map_.reserved_bytes += map_.regions[region].size_bytes;
  }
  void Add(uint64_t address, uint64_t size_bytes, Row row) {
    MappedRegion& region = map_.regions[region_];
    map_.chunks.push_back({address, size_bytes, row, region_});
    ++region.chunk_count;
    if (row != kNoRow) return;
    region.free_bytes += size_bytes;
    region.largest_free_bytes = std::max(region.largest_free_bytes, size_bytes);
    map_.free_bytes += size_bytes;
    map_.largest_free_bytes = std::max(map_.largest_free_bytes, size_bytes);
    ++map_.free_chunk_count;
  }

 private:
  ChunkMap& map_;
  uint32_t region_ = 0;
};

}  // namespace

ChunkMap BuildChunkMap(std::vector<MappedRegion> regions,
                       const std::vector<LiveChunk>& live) {
  ChunkMap map;
  map.regions = CoverAll(std::move(regions), live, &map.outside_count);
  map.chunks.reserve(live.size() * 2 + map.regions.size());
  MapWriter writer(&map);
  size_t next = 0;
  for (uint32_t r = 0; r < map.regions.size(); ++r) {
    writer.BeginRegion(r);
    const uint64_t last =
        LastByte(map.regions[r].address, map.regions[r].size_bytes);
    uint64_t cursor = map.regions[r].address;
    bool full = false;  // The cursor would be past the last address.
    for (; next < live.size() && live[next].address <= last; ++next) {
      const LiveChunk& chunk = live[next];
      const uint64_t chunk_last = LastByte(chunk.address, chunk.size_bytes);
      if (full || chunk.address < cursor) {
        ++map.overlap_count;
        if (full || chunk_last < cursor) continue;
      } else if (chunk.address > cursor) {
        writer.Add(cursor, chunk.address - cursor, kNoRow);
        cursor = chunk.address;
      }
      writer.Add(cursor, chunk_last - cursor + 1, chunk.row);
      full = chunk_last == last;
      cursor = chunk_last + 1;
    }
    if (!full) writer.Add(cursor, last - cursor + 1, kNoRow);
  }
  return map;
}

}  // namespace oom_forensics
