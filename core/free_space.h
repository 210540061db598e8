// The free memory of a pool, counted chunk by chunk.
#ifndef OOM_FORENSICS_CORE_FREE_SPACE_H_
#define OOM_FORENSICS_CORE_FREE_SPACE_H_

#include <cstdint>
#include <utility>
#include <vector>

namespace oom_forensics {

struct FreeSpace {
  uint64_t free_bytes = 0;
  uint64_t free_chunk_count = 0;
  uint64_t largest_free_bytes = 0;
  // 0: it is not known where regions begin and end.
  uint64_t region_count = 0;
  // The free bytes of the region that has most of them; where regions are not
  // known, all of them.
  uint64_t most_free_region_bytes = 0;
};

class FreeSpaceCounter {
 public:
  // `regions`: address and bytes of each, in any order; empty: not known.
  explicit FreeSpaceCounter(std::vector<std::pair<uint64_t, uint64_t>> regions);

  void AddFreeChunk(uint64_t address, uint64_t size_bytes);

  // Sums up all free chunks so far. A chunk outside all regions makes the sum
  // unknown.
  FreeSpace Total() const;

 private:
  struct CountedRegion {
    uint64_t address = 0;
    uint64_t size_bytes = 0;
    uint64_t free_bytes = 0;
  };

  std::vector<CountedRegion> regions_;
  bool regions_known_ = false;
  FreeSpace total_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_FREE_SPACE_H_
