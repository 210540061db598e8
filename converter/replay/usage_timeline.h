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

#include "converter/trace/allocator_trace.h"
#include "converter/trace/column.h"

namespace oom_forensics {

class AllocatorReplay;

// Tells a constructor that VisitState() will say what a replay came to.
struct NotReplayed {};

// What is live at a position.
struct Usage {
  uint64_t in_use_bytes = 0;
  uint64_t requested_bytes = 0;
  // The bytes of all regions; without a layout, what is in use is all that the
  // allocator holds.
  uint64_t reserved_bytes = 0;
  uint64_t live_count = 0;

  // What allocations take; regions are no part of it.
  void Add(const Usage& taken);
  void Subtract(const Usage& taken);
};

// What one allocation of a site takes.
Usage UsageOf(const AllocationSite& site);

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
  // Counts all allocations, or of each site what `by_site` says (by its number;
  // nothing where its allocations do not count), and of these only what
  // `filter` keeps. `replay` must outlive the timeline.
  explicit UsageTimeline(const AllocatorReplay* replay);
  UsageTimeline(const AllocatorReplay* replay, std::vector<Usage> by_site,
                const RowFilter& filter = nullptr);
  UsageTimeline(const AllocatorReplay* replay, NotReplayed);

  Usage At(Position position) const;
  // Over the states of positions begin to end, both included.
  UsageExtremes Over(Position begin, Position end) const;
  uint64_t ResidentBytes() const;

  // What counting all allocations came to, for who keeps it.
  template <typename Visitor>
  void VisitState(Visitor& visit) {
    visit(blocks_, levels_);
  }
  // It covers the trace's rows.
  bool IsSound() const;

 private:
  static constexpr uint32_t kBlockRows = 64;
  static constexpr uint32_t kFanOut = 8;

  // What an allocation adds; nothing where it is not counted.
  const Usage& CountedOf(Row alloc) const;
  // False: the row changed nothing.
  bool Apply(Row row, Usage* usage) const;
  void ReleaseReplaced(Row alloc, Usage* usage) const;
  void Walk(Usage usage);
  void BuildPyramid();
  UsageExtremes WithinBlock(Position begin, Position end) const;

  const AllocatorReplay* replay_ = nullptr;
  // What an allocation of each site adds.
  std::vector<Usage> by_site_;
  // One bit per row: kept by the filter. Empty: all are.
  std::vector<bool> kept_;
  // State at position i * kBlockRows.
  Column<Usage> blocks_;
  // levels_[0][i]: over positions i * kBlockRows ... (i + 1) * kBlockRows.
  std::vector<Column<UsageExtremes>> levels_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_USAGE_TIMELINE_H_
