// What an answer shows of an allocation: all of it, or, of a block that XLA
// allocated and whose inside is known, its buffers one by one.
//
// A block's parts do not overlap, and their bytes add up to the block's. They
// are what lies in it at its own peak, for as long as the block lives.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_PART_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_PART_H_

#include <cstdint>
#include <vector>

#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

struct AllocationPart {
  static constexpr int32_t kWhole = -1;
  Row row = kNoRow;
  // The part's site, or the allocation's where it is shown whole.
  SiteId site = 0;
  // Index into HostTrace::block_parts of the row's site.
  int32_t index = kWhole;
  uint64_t offset_bytes = 0;

  bool is_whole() const { return index == kWhole; }
};

// The parts of an allocation's site; null: it has none.
inline const std::vector<SitePart>* PartsOfSite(const HostTrace& host,
                                                SiteId site) {
  const auto found = host.block_parts.find(site);
  return found == host.block_parts.end() ? nullptr : &found->second;
}

inline AllocationPart WholeAllocation(const AllocatorReplay& replay, Row row) {
  return {row, replay.trace().site[row]};
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_ALLOCATION_PART_H_
