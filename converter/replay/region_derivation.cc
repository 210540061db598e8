#include "converter/replay/region_derivation.h"

#include <algorithm>
#include <vector>

#include "absl/container/btree_map.h"

namespace oom_forensics {
namespace {

// BFCAllocator's first region, the smallest that it takes while it may grow.
constexpr uint64_t kSmallestRegionBytes = uint64_t{2} << 20;

// Disjoint ranges: first byte to last byte.
class RangeUnion {
 public:
  void Add(uint64_t first, uint64_t last) {
    auto next = ranges_.upper_bound(first);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second >= last) return;
      if (Near(before->second, first)) {
        first = before->first;
        next = ranges_.erase(before);
      }
    }
    while (next != ranges_.end() && Near(last, next->first)) {
      last = std::max(last, next->second);
      next = ranges_.erase(next);
    }
    ranges_.emplace(first, last);
  }
  const absl::btree_map<uint64_t, uint64_t>& ranges() const { return ranges_; }

 private:
  static bool Near(uint64_t last, uint64_t first) {
    return first <= last || first - last <= kSmallestRegionBytes;
  }
  absl::btree_map<uint64_t, uint64_t> ranges_;
};

}  // namespace

std::vector<RegionChange> DeriveRegions(const HostTrace& host,
                                        const AllocatorTrace& trace) {
  RangeUnion covered;
  for (Row row = 0; row < trace.row_count(); ++row) {
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    const uint64_t bytes = host.sites.Get(trace.site[row]).allocated_bytes;
    covered.Add(trace.address[row], trace.address[row] + (bytes - 1));
  }
  std::vector<RegionChange> regions;
  for (const auto& [first, last] : covered.ranges()) {
    regions.push_back({0, first, last - first + 1, true});
  }
  return regions;
}

}  // namespace oom_forensics
