#include "core/free_space.h"

#include <algorithm>

namespace oom_forensics {

FreeSpaceCounter::FreeSpaceCounter(
    std::vector<std::pair<uint64_t, uint64_t>> regions)
    : regions_known_(!regions.empty()) {
  std::sort(regions.begin(), regions.end());
  regions_.reserve(regions.size());
  for (const auto& [address, size_bytes] : regions) {
    regions_.push_back({address, size_bytes, 0});
  }
}

void FreeSpaceCounter::AddFreeChunk(uint64_t address, uint64_t size_bytes) {
  total_.free_bytes += size_bytes;
  ++total_.free_chunk_count;
  total_.largest_free_bytes = std::max(total_.largest_free_bytes, size_bytes);
  const auto above =
      std::upper_bound(regions_.begin(), regions_.end(), address,
                       [](uint64_t a, const CountedRegion& region) {
                         return a < region.address;
                       });
  if (above == regions_.begin() ||
      address - std::prev(above)->address >= std::prev(above)->size_bytes) {
    regions_known_ = false;
    return;
  }
  std::prev(above)->free_bytes += size_bytes;
}

FreeSpace FreeSpaceCounter::Total() const {
  FreeSpace total = total_;
  if (!regions_known_) {
    total.most_free_region_bytes = total.free_bytes;
    return total;
  }
  total.region_count = regions_.size();
  for (const CountedRegion& region : regions_) {
    total.most_free_region_bytes =
        std::max(total.most_free_region_bytes, region.free_bytes);
  }
  return total;
}

}  // namespace oom_forensics
