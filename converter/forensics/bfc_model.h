// A model of where TensorFlow's BFC allocator places an allocation, used to try
// a remedy on the real layout before it is named.
//
// The rules (tsl/framework/bfc_allocator.cc, TensorFlow 2.15 to 2.21):
//   - sizes are rounded up to 256 bytes;
//   - the smallest free chunk that is big enough is taken, of equal ones the
//     lowest (the allocator's bins only make this search fast: they are ordered
//     by size, and so is what is in them);
//   - a chunk is split when it is at least twice the request, or when at least
//     128 MiB of it would be wasted (another bound if TensorFlow's
//     fragmentation fraction is set);
//   - a free chunk merges with free neighbours of its region, never beyond;
//   - when nothing fits the pool grows by one region of at least the request:
//     2 MiB at first, doubled at each growth, cut to what the limit leaves; a
//     pool that does not grow has one region of the whole limit;
//   - with garbage collection on (GPUs), regions without any live chunk are
//     given back before the allocator gives up, and the pool grows anew.
//
//   BfcModel model({.limit_bytes = 256 << 20});
//   std::optional<uint64_t> address = model.Allocate(1000);
//   model.Free(*address);
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_BFC_MODEL_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_BFC_MODEL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "converter/forensics/layout.h"
#include "core/bfc.h"

namespace oom_forensics {

struct BfcSettings {
  uint64_t limit_bytes = 0;
  // False: one region of limit_bytes from the start.
  bool allow_growth = true;
  bool garbage_collection = false;
  // Most that a chunk may exceed a request by without being split.
  uint64_t max_waste_bytes = kMaxUnsplitRestBytes;
  // The size of the first region that the pool grows by.
  uint64_t first_region_bytes = kFirstRegionBytes;
  // The address of a region of that size; unset: behind all others, with a gap,
  // so that no two regions touch.
  std::function<uint64_t(uint64_t size_bytes)> place_region;
};

class BfcModel {
 public:
  explicit BfcModel(BfcSettings settings);

  // A pool as it stood at some moment. `next_region_bytes` is what the pool
  // would grow by next; 0: twice its largest region. Chunks keep their
  // addresses; free neighbours are merged.
  BfcModel(BfcSettings settings, const Layout& layout,
           uint64_t next_region_bytes = 0);

  // The address, or nothing when the request cannot be placed.
  std::optional<uint64_t> Allocate(uint64_t requested_bytes);

  // Returns false when no live chunk begins at the address.
  bool Free(uint64_t address);

  // A region that TensorFlow itself recorded; false where it overlaps one.
  bool AddRegion(uint64_t address, uint64_t size_bytes);

  // The size of the live chunk at the address; 0: there is none.
  uint64_t SizeOf(uint64_t address) const;

  uint64_t reserved_bytes() const { return reserved_bytes_; }
  uint64_t in_use_bytes() const { return in_use_bytes_; }
  uint64_t free_bytes() const { return reserved_bytes_ - in_use_bytes_; }
  uint64_t largest_free_bytes() const;
  size_t region_count() const { return regions_.size(); }

 private:
  struct Chunk {
    uint64_t size_bytes = 0;
    // Of the region that it lies in.
    uint64_t region = 0;
    bool in_use = false;
  };
  using Chunks = std::map<uint64_t, Chunk>;

  std::optional<uint64_t> TakeBestFit(uint64_t bytes);
  bool Grow(uint64_t bytes);
  bool GiveBackUnusedRegions(uint64_t bytes);
  void InsertFree(Chunks::iterator chunk);
  void EraseFree(Chunks::iterator chunk);
  uint64_t PlaceRegion(uint64_t size_bytes) const;

  BfcSettings settings_;
  uint64_t next_region_bytes_ = 0;
  uint64_t reserved_bytes_ = 0;
  uint64_t in_use_bytes_ = 0;
  // Region address to its size.
  std::map<uint64_t, uint64_t> regions_;
  // All chunks by address.
  Chunks chunks_;
  // Size and address of each free chunk.
  std::set<std::pair<uint64_t, uint64_t>> free_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_BFC_MODEL_H_
