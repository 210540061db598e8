#include "converter/replay/hole_set.h"

#include <algorithm>
#include <iterator>

namespace oom_forensics {

void HoleSet::Insert(uint64_t first, uint64_t last) {
  const uint64_t size = last - first + 1;
  holes_.emplace(first, last);
  ++sizes_[size];
  free_bytes_ += size;
  if (size < usable_from_bytes_) unusable_bytes_ += size;
}

HoleSet::Ranges::iterator HoleSet::Erase(Ranges::iterator hole) {
  const uint64_t size = hole->second - hole->first + 1;
  const auto entry = sizes_.find(size);
  if (--entry->second == 0) sizes_.erase(entry);
  free_bytes_ -= size;
  if (size < usable_from_bytes_) unusable_bytes_ -= size;
  return holes_.erase(hole);
}

bool HoleSet::AddRegion(uint64_t first, uint64_t last) {
  const auto next = regions_.upper_bound(first);
  if (next != regions_.end() && next->first <= last) return false;
  if (next != regions_.begin() && std::prev(next)->second >= first) {
    return false;
  }
  regions_.emplace(first, last);
  Insert(first, last);
  return true;
}

void HoleSet::RemoveRegion(uint64_t first) {
  const auto region = regions_.find(first);
  if (region == regions_.end()) return;
  Take(first, region->second);
  regions_.erase(region);
}

void HoleSet::Take(uint64_t first, uint64_t last) {
  auto hole = holes_.upper_bound(first);
  if (hole != holes_.begin() && std::prev(hole)->second >= first) --hole;
  while (hole != holes_.end() && hole->first <= last) {
    const uint64_t hole_first = hole->first;
    const uint64_t hole_last = hole->second;
    Erase(hole);
    if (hole_first < first) Insert(hole_first, first - 1);
    if (hole_last > last) {
      Insert(last + 1, hole_last);
      return;
    }
    hole = holes_.upper_bound(first);
  }
}

void HoleSet::GiveBack(uint64_t first, uint64_t last) {
  auto region = regions_.upper_bound(first);
  if (region != regions_.begin() && std::prev(region)->second >= first) {
    --region;
  }
  for (; region != regions_.end() && region->first <= last; ++region) {
    GiveBackWithin(region->first, region->second,
                   std::max(first, region->first),
                   std::min(last, region->second));
  }
}

void HoleSet::GiveBackWithin(uint64_t region_first, uint64_t region_last,
                             uint64_t first, uint64_t last) {
  auto next = holes_.upper_bound(first);
  // Joined with what is free beside it, or was already.
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    if (before->first >= region_first && before->second + 1 >= first &&
        before->second < region_last) {
      first = before->first;
      last = std::max(last, before->second);
      next = Erase(before);
    } else if (before->second >= first) {
      return;
    }
  }
  while (next != holes_.end() && next->first <= region_last &&
         next->first - 1 <= last) {
    last = std::max(last, next->second);
    next = Erase(next);
  }
  Insert(first, last);
}

}  // namespace oom_forensics
