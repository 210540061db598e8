#include "converter/replay/hole_set.h"

#include <algorithm>
#include <iterator>

namespace oom_forensics {

void HoleSet::CountIn(uint64_t size_bytes) {
  ++sizes_[size_bytes];
  free_bytes_ += size_bytes;
  if (size_bytes < usable_from_bytes_) unusable_bytes_ += size_bytes;
}

void HoleSet::CountOut(uint64_t size_bytes) {
  const auto entry = sizes_.find(size_bytes);
  if (--entry->second == 0) sizes_.erase(entry);
  free_bytes_ -= size_bytes;
  if (size_bytes < usable_from_bytes_) unusable_bytes_ -= size_bytes;
}

void HoleSet::Insert(Ranges::iterator next, uint64_t first, uint64_t last) {
  holes_.emplace_hint(next, first, last);
  CountIn(last - first + 1);
}

void HoleSet::SetLast(Ranges::iterator hole, uint64_t last) {
  CountOut(hole->second - hole->first + 1);
  hole->second = last;
  CountIn(last - hole->first + 1);
}

HoleSet::Ranges::iterator HoleSet::Erase(Ranges::iterator hole) {
  CountOut(hole->second - hole->first + 1);
  return holes_.erase(hole);
}

bool HoleSet::AddRegion(uint64_t first, uint64_t last) {
  const auto next = regions_.upper_bound(first);
  if (next != regions_.end() && next->first <= last) return false;
  if (next != regions_.begin() && std::prev(next)->second >= first) {
    return false;
  }
  regions_.emplace(first, last);
  Insert(holes_.lower_bound(first), first, last);
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
    const uint64_t hole_last = hole->second;
    if (hole->first < first) {
      SetLast(hole, first - 1);
      ++hole;
    } else {
      hole = Erase(hole);
    }
    if (hole_last > last) {
      Insert(hole, last + 1, hole_last);
      return;
    }
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
  bool joins_before = false;
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    joins_before = before->first >= region_first &&
                   before->second + 1 >= first && before->second < region_last;
    if (joins_before) {
      last = std::max(last, before->second);
    } else if (before->second >= first) {
      return;
    }
  }
  while (next != holes_.end() && next->first <= region_last &&
         next->first - 1 <= last) {
    last = std::max(last, next->second);
    next = Erase(next);
  }
  if (joins_before) {
    SetLast(std::prev(next), last);
  } else {
    Insert(next, first, last);
  }
}

}  // namespace oom_forensics
