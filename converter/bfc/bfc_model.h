// TensorFlow's BFC allocator, exactly: where it places each request, which it
// refuses, and how its pool grows and shrinks (tsl::BFCAllocator, TensorFlow
// 2.15 to 2.21). tests/bfc_model drives it in step with the real one.
//
//   - Sizes are rounded up to 256 bytes. The smallest free chunk that is big
//     enough is taken, of equal ones the lowest; its rest is split off when it
//     is worth it (IsSplit).
//   - When nothing fits the pool takes one more region: the first is of 2 MiB,
//     each twice the one before, more if the request needs more, cut to what
//     the limit leaves. A pool that does not grow begins with its whole limit.
//     Where the system refuses, a tenth less is asked for, again and again.
//   - Free neighbours merge, within a region. Regions that touch are one where
//     the system's memory can be used so (virtual memory of GPUs).
//   - With garbage collection, regions without any live chunk are given back
//     before a request is refused, and the pool grows again.
//   - With a timing counter a freed chunk keeps the count of its release, does
//     not merge until that count is safe, and may be taken by those only who
//     ask for no earlier one.
//
// It differs where the real one would run for ever: it refuses.
//
//   BfcModel model({256 << 20});
//   const ChunkId chunk = model.Allocate(1000);
//   if (chunk != kNoChunk) model.Free(chunk);
#ifndef OOM_FORENSICS_CONVERTER_BFC_BFC_MODEL_H_
#define OOM_FORENSICS_CONVERTER_BFC_BFC_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "converter/bfc/bfc_chunks.h"

namespace oom_forensics {

// tsl::BFCAllocator::Options, the limit, and what the system's memory allows.
struct BfcSettings {
  uint64_t limit_bytes = 0;
  // False: one region of limit_bytes.
  bool allow_growth = true;
  bool garbage_collection = false;
  // The part of the limit that a chunk may exceed a request by without being
  // split; 0: kMaxUnsplitRestBytes.
  double fragmentation_fraction = 0;
  // SubAllocator::SupportsCoalescing().
  bool merges_regions = false;
  // TensorFlow 2.15: once the system has refused, less is never asked for
  // again.
  bool asks_for_less_only_once = false;
};

// A piece of memory that the pool got from the system.
struct BfcRegion {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
};

// A chunk of a pool as it stands, to go on from there.
struct BfcChunk {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  bool in_use = false;
};

// Where regions come from: tsl::SubAllocator.
class RegionSource {
 public:
  virtual ~RegionSource() = default;
  // Nothing: there is none of that size. May be larger than asked for.
  virtual std::optional<BfcRegion> Take(uint64_t size_bytes) = 0;
  virtual void GiveBack(const BfcRegion& region) = 0;
};

// The size of the region that the pool takes next, after it took regions of
// these sizes in this order. Exact unless the system refused a region, or the
// pool gave some back.
uint64_t NextRegionBytes(const BfcSettings& settings,
                         const std::vector<uint64_t>& sizes_bytes);

class BfcModel {
 public:
  // `source` must outlive the model; null: any size can be had, behind all that
  // was taken before, and no two regions touch.
  explicit BfcModel(const BfcSettings& settings,
                    RegionSource* source = nullptr);

  // A pool as it stood: regions and, in them and without gaps, chunks, both in
  // address order. `chunks[i]` has the id i if it is in use.
  // `next_region_bytes` as of NextRegionBytes().
  BfcModel(const BfcSettings& settings, RegionSource* source,
           const std::vector<BfcRegion>& regions,
           const std::vector<BfcChunk>& chunks, uint64_t next_region_bytes);

  // The chunk that is given; kNoChunk: refused. `freed_before`: what
  // AllocationAttributes::freed_by_func says, 0 without one.
  ChunkId Allocate(uint64_t requested_bytes, uint64_t freed_before = 0);
  // `freed_at`: the timing counter's count, 0 without a counter.
  void Free(ChunkId chunk, uint64_t freed_at = 0);
  void SetSafeFrontier(uint64_t count);
  // What the pool may take from now on. As if it had been so from the beginning
  // where it grew region by region, and never met a limit or this one.
  void SetLimit(uint64_t limit_bytes) { settings_.limit_bytes = limit_bytes; }

  // What the pool is known to have done: it took this region, or gave back the
  // one at this address. False where that contradicts what it holds.
  bool AddRegion(const BfcRegion& region);
  bool RemoveRegion(uint64_t address);

  // For a pool that is known to have done otherwise: gives this place to a
  // request of this size. kNoChunk where it is not free. What is below and
  // above it in the free chunk stays free. `below`: a chunk of the same region
  // at or below the place, from which it is looked for; kNoChunk: from the
  // region's first.
  ChunkId AllocateAt(uint64_t address, uint64_t size_bytes,
                     ChunkId below = kNoChunk);

  const PoolChunk& chunk(ChunkId id) const { return chunks_[id]; }
  const BfcSettings& settings() const { return settings_; }
  uint64_t reserved_bytes() const { return totals_.reserved_bytes; }
  uint64_t in_use_bytes() const { return totals_.in_use_bytes; }
  uint64_t free_bytes() const { return reserved_bytes() - in_use_bytes(); }
  uint64_t largest_free_bytes() const { return chunks_.largest_listed_bytes(); }
  uint64_t next_region_bytes() const { return totals_.next_region_bytes; }
  size_t region_count() const { return regions_.size(); }

  std::vector<BfcRegion> Regions() const;
  // In address order; free chunks too.
  std::vector<ChunkId> ChunksInOrder() const;

  // Trying things out: KeepJournal() once, then GoBack() to any Now() since the
  // last ForgetPast(). The source is not told. Not with a timing counter.
  struct Moment {
    size_t change = 0;
    size_t region_change = 0;
    uint64_t reserved_bytes = 0;
    uint64_t in_use_bytes = 0;
    uint64_t next_region_bytes = 0;
  };
  void KeepJournal();
  Moment Now() const;
  void GoBack(const Moment& moment);
  void ForgetPast();

 private:
  struct Region {
    uint64_t address = 0;
    uint64_t size_bytes = 0;
    ChunkId first = kNoChunk;
    uint64_t end() const { return address + size_bytes; }
  };
  struct Totals {
    uint64_t reserved_bytes = 0;
    uint64_t in_use_bytes = 0;
    uint64_t next_region_bytes = 0;
  };

  ChunkId Take(uint64_t bytes, uint64_t freed_before);
  bool Extend(uint64_t bytes);
  std::optional<BfcRegion> TakeRegion(uint64_t size_bytes);
  void InsertRegion(const BfcRegion& region);
  void DropChunks(const Region& region);
  bool GiveBackUnusedRegions(uint64_t bytes);
  bool HasLiveChunk(const Region& region) const;
  bool MergeTimed(uint64_t required_bytes);
  // Cuts the free, unlisted chunk in two; the rest is listed.
  void Split(ChunkId chunk, uint64_t bytes);
  void Merge(ChunkId chunk, ChunkId next);
  ChunkId Coalesce(ChunkId chunk, bool ignore_freed_at);
  uint64_t AvailableBytes() const;
  void RememberRegions();

  BfcSettings settings_;
  RegionSource* source_;
  uint64_t max_unsplit_rest_bytes_;
  Totals totals_;
  // By address.
  std::vector<Region> regions_;
  ChunkTable chunks_;
  // Freed chunks that wait for their count to be safe, and perhaps chunks that
  // are gone or in use again.
  std::deque<ChunkId> timed_;
  // The system once gave more than it was asked for. Only so a pool can pass
  // its limit; what is left of that then wraps around, in TensorFlow as here.
  bool was_given_more_ = false;
  bool was_refused_ = false;
  uint64_t safe_frontier_ = 0;
  bool keeps_journal_ = false;
  // The regions before each change of them.
  std::vector<std::vector<Region>> past_regions_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_BFC_BFC_MODEL_H_
