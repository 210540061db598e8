#include "converter/forensics/remedies/pins.h"

#include <cstddef>
#include <tuple>

namespace oom_forensics {
namespace {

// Ages in nanoseconds add up to more than 64 bits over many chunks.
using Cost = unsigned __int128;

Cost CostOf(const Block& block, ReleaseCost cost) {
  if (block.free()) return 0;
  switch (cost) {
    case ReleaseCost::kBytes:
      return block.size_bytes;
    case ReleaseCost::kCount:
      return 1;
    case ReleaseCost::kAge:
      return block.age_ns;
  }
  return 0;
}

// Blocks [first, last) of one region with what releasing them would cost.
struct Window {
  const RegionLayout* region = nullptr;
  size_t first = 0;
  size_t last = 0;
  Cost cost = 0;
  uint64_t bytes = 0;
  uint64_t released_bytes = 0;

  void Add(const Block& block, ReleaseCost by) {
    cost += CostOf(block, by);
    bytes += block.size_bytes;
    if (!block.free()) released_bytes += block.size_bytes;
  }

  void Remove(const Block& block, ReleaseCost by) {
    cost -= CostOf(block, by);
    bytes -= block.size_bytes;
    if (!block.free()) released_bytes -= block.size_bytes;
  }

  bool CheaperThan(const Window& other) const {
    return std::tie(cost, released_bytes) <
           std::tie(other.cost, other.released_bytes);
  }
};

// Keeps in `best` the cheapest window of `region` that is big enough.
void SearchRegion(const RegionLayout& region, uint64_t request_bytes,
                  ReleaseCost cost, std::optional<Window>& best) {
  Window window;
  window.region = &region;
  for (const Block& block : region.blocks) {
    window.Add(block, cost);
    ++window.last;
    while (window.bytes - region.blocks[window.first].size_bytes >=
           request_bytes) {
      window.Remove(region.blocks[window.first], cost);
      ++window.first;
    }
    if (window.bytes < request_bytes) continue;
    if (!best.has_value() || window.CheaperThan(*best)) best = window;
  }
}

ReleaseSet ToReleaseSet(Window window) {
  const std::vector<Block>& blocks = window.region->blocks;
  ReleaseSet set;
  set.region_address = window.region->address;
  set.released_bytes = window.released_bytes;
  for (size_t i = window.first; i < window.last; ++i) {
    if (!blocks[i].free()) set.holders.push_back(blocks[i].holder);
  }
  while (window.first > 0 && blocks[window.first - 1].free()) --window.first;
  while (window.last < blocks.size() && blocks[window.last].free()) {
    ++window.last;
  }
  set.hole_address = blocks[window.first].address;
  set.hole_bytes = blocks[window.last - 1].end() - set.hole_address;
  return set;
}

}  // namespace

std::optional<ReleaseSet> CheapestRelease(const Layout& layout,
                                          uint64_t request_bytes,
                                          ReleaseCost cost) {
  if (request_bytes == 0) return std::nullopt;
  std::optional<Window> best;
  for (const RegionLayout& region : layout) {
    SearchRegion(region, request_bytes, cost, best);
  }
  if (!best.has_value()) return std::nullopt;
  return ToReleaseSet(*best);
}

}  // namespace oom_forensics
