// The holes between live chunks, kept while chunks come and go.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_HOLE_SET_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_HOLE_SET_H_

#include <cstdint>

#include "absl/container/btree_map.h"

namespace oom_forensics {

// Ranges are [first, last], both included, so that they may reach to the last
// address. Holes of different regions are never joined.
class HoleSet {
 public:
  // Holes smaller than this count as unusable.
  explicit HoleSet(uint64_t usable_from_bytes)
      : usable_from_bytes_(usable_from_bytes) {}

  // The region becomes one hole. Where it overlaps a known region, that one
  // stays and the new one is ignored; returns false then.
  bool AddRegion(uint64_t first, uint64_t last);
  void RemoveRegion(uint64_t first);

  // Takes the range out of the holes, as far as it is in them.
  void Take(uint64_t first, uint64_t last);
  // Gives the range back, as far as regions hold it.
  void GiveBack(uint64_t first, uint64_t last);

  uint64_t free_bytes() const { return free_bytes_; }
  uint64_t unusable_bytes() const { return unusable_bytes_; }
  uint64_t count() const { return holes_.size(); }
  uint64_t largest_bytes() const {
    return sizes_.empty() ? 0 : sizes_.rbegin()->first;
  }

 private:
  using Ranges = absl::btree_map<uint64_t, uint64_t>;  // First to last.

  void CountIn(uint64_t size_bytes);
  void CountOut(uint64_t size_bytes);
  // Adds a hole that comes before `next`.
  void Insert(Ranges::iterator next, uint64_t first, uint64_t last);
  // Ends a hole elsewhere; cheaper than to replace it.
  void SetLast(Ranges::iterator hole, uint64_t last);
  // Returns the hole after it.
  Ranges::iterator Erase(Ranges::iterator hole);
  void GiveBackWithin(uint64_t region_first, uint64_t region_last,
                      uint64_t first, uint64_t last);

  uint64_t usable_from_bytes_;
  Ranges regions_;
  Ranges holes_;
  absl::btree_map<uint64_t, uint32_t> sizes_;  // Size to how many.
  uint64_t free_bytes_ = 0;
  uint64_t unusable_bytes_ = 0;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_HOLE_SET_H_
