#include "converter/datasets/region_stack.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace oom_forensics {
namespace {

// The first address behind; the highest there is where it would be more.
uint64_t EndOf(uint64_t address, uint64_t size_bytes) {
  constexpr uint64_t kHighest = std::numeric_limits<uint64_t>::max();
  return size_bytes > kHighest - address ? kHighest : address + size_bytes;
}

}  // namespace

RegionStack::RegionStack(const std::vector<RegionChange>& changes,
                         uint64_t from_address, uint64_t to_address) {
  std::vector<std::pair<uint64_t, uint64_t>> held;
  for (const RegionChange& change : changes) {
    if (!change.added) continue;
    const uint64_t from = std::max(change.address, from_address);
    uint64_t to = EndOf(change.address, change.size_bytes);
    if (to_address != 0) to = std::min(to, to_address);
    if (from < to) held.emplace_back(from, to);
  }
  std::sort(held.begin(), held.end());
  for (const auto& [from, to] : held) {
    // One that was given back and taken again in another size.
    if (!bands_.empty() &&
        from < EndOf(bands_.back().address, bands_.back().size_bytes)) {
      Band& band = bands_.back();
      band.size_bytes = std::max(band.size_bytes, to - band.address);
      continue;
    }
    bands_.push_back({from, to - from, 0});
  }
  for (Band& band : bands_) {
    band.below_bytes = total_bytes_;
    total_bytes_ = EndOf(total_bytes_, band.size_bytes);
  }
}

std::optional<RegionStack::Span> RegionStack::Place(uint64_t address,
                                                    uint64_t size_bytes) const {
  const uint64_t end = EndOf(address, size_bytes);
  // The first band that ends behind the address.
  const auto band = std::partition_point(
      bands_.begin(), bands_.end(), [address](const Band& each) {
        return EndOf(each.address, each.size_bytes) <= address;
      });
  if (band == bands_.end() || band->address >= end) return std::nullopt;
  // An allocator may extend a region in place: a chunk spans both then.
  auto last = band;
  while (std::next(last) != bands_.end() &&
         std::next(last)->address == last->address + last->size_bytes &&
         std::next(last)->address < end) {
    ++last;
  }
  const uint64_t from = std::max(address, band->address);
  const uint64_t to = std::min(end, last->address + last->size_bytes);
  return Span{band->below_bytes + (from - band->address),
              last->below_bytes + (to - last->address)};
}

}  // namespace oom_forensics
