// Bytes in use, requested and reserved, and the number of live allocations, at
// every position, and their extremes over any range of positions in O(log n).
//
// Only every 64th state is stored; over those lies a pyramid of the extremes of
// ever longer ranges. So it takes under 2 bytes a row, and a timeline of any
// width is answered in time that depends on the width alone.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_USAGE_TIMELINE_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_USAGE_TIMELINE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/trace/allocator_trace.h"

namespace oom_forensics {

class AllocatorReplay;

// What is live at a position.
struct Usage {
  uint64_t in_use_bytes = 0;
  uint64_t requested_bytes = 0;
  // Of all regions; where the allocator has no layout, what is in use is all
  // that it holds.
  uint64_t reserved_bytes = 0;
  uint64_t live_count = 0;
};

// The extremes over a range of positions.
struct UsageExtremes {
  uint64_t in_use_min_bytes = 0;
  uint64_t in_use_max_bytes = 0;
  uint64_t requested_max_bytes = 0;
  uint64_t reserved_max_bytes = 0;
  uint64_t live_max_count = 0;
  // The first position of in_use_max_bytes.
  Position in_use_max_position = 0;

  void Include(const Usage& usage, Position position);
  void Include(const UsageExtremes& later);
};

class UsageTimeline {
 public:
  // Tells whether an allocation (a kAlloc row) is to be counted.
  using RowFilter = std::function<bool(Row)>;

  UsageTimeline() = default;
  // Counts all allocations, or those that `filter` keeps. `replay` must outlive
  // the timeline.
  // `partly`: sites of which only a part counts (of compiled blocks that are
  // opened), by their number.
  explicit UsageTimeline(const AllocatorReplay* replay,
                         const RowFilter& filter = nullptr,
                         absl::flat_hash_map<SiteId, Usage> partly = {});

  Usage At(Position position) const;
  // Over the states of positions begin to end, both included.
  UsageExtremes Over(Position begin, Position end) const;
  uint64_t ResidentBytes() const;

 private:
  static constexpr uint32_t kBlockRows = 64;
  static constexpr uint32_t kFanOut = 8;

  // What an allocation adds to a usage that counts it.
  Usage CountedOf(Row alloc) const;
  void Apply(Row row, Usage* usage) const;
  void BuildPyramid();
  UsageExtremes WithinBlock(Position begin, Position end) const;

  const AllocatorReplay* replay_ = nullptr;
  // One bit per row: counted. Empty: all are.
  std::vector<bool> counted_;
  absl::flat_hash_map<SiteId, Usage> partly_;
  // State at position i * kBlockRows.
  std::vector<Usage> blocks_;
  // levels_[0][i]: over positions i * kBlockRows ... (i + 1) * kBlockRows.
  std::vector<std::vector<UsageExtremes>> levels_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_USAGE_TIMELINE_H_
