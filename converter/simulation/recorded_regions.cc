#include "converter/simulation/recorded_regions.h"

#include <algorithm>

namespace oom_forensics {
namespace {

// Between regions that TensorFlow did not have, so that none touch.
constexpr uint64_t kGapBytes = uint64_t{1} << 20;

}  // namespace

RecordedRegions::RecordedRegions(const AllocatorReplay& replay, Row from,
                                 bool refuses)
    : refuses_(refuses) {
  for (const RegionChange& change : replay.region_changes()) {
    if (!change.added) continue;
    free_address_ =
        std::max(free_address_, change.address + change.size_bytes + kGapBytes);
    if (change.row >= from && !replay.regions_derived()) {
      recorded_.push_back({change.address, change.size_bytes});
    }
  }
}

std::optional<BfcRegion> RecordedRegions::Take(uint64_t size_bytes) {
  if (next_ < recorded_.size()) {
    const BfcRegion& region = recorded_[next_];
    if (region.size_bytes == size_bytes) {
      ++next_;
      return region;
    }
    if (refuses_ && region.size_bytes < size_bytes) return std::nullopt;
  }
  if (size_bytes > UINT64_MAX - kGapBytes - free_address_) return std::nullopt;
  const uint64_t address = free_address_;
  free_address_ += size_bytes + kGapBytes;
  return BfcRegion{address, size_bytes};
}

}  // namespace oom_forensics
