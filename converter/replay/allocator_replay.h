// The life of one allocator, replayed from its events: which allocation each
// free ended, how much was in use, and the live set and chunk map at any
// position.
//
//   AllocatorReplay replay(host, allocator_trace);
//   Position p = replay.failure_positions().front();   // just before an OOM
//   for (Row row : replay.LiveAt(p)) ...               // live, by address
//   ChunkMap map = replay.MapAt(p);                    // regions, chunks,
//   holes
//
// How a moment is reached. An allocation is its kAlloc row; EndOf(row) is the
// row that ended it. So the live set of position p is
//
//     { row < p : row is kAlloc and EndOf(row) >= p }
//
// and nothing needs to be undone or redone. Keyframes hold that set, sorted by
// address, every so many rows (at least four times as many as are live there,
// so they take at most one byte a row); a moment costs one keyframe and the
// rows after it, wherever in the trace it lies.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_ALLOCATOR_REPLAY_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_ALLOCATOR_REPLAY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "converter/quality/quality_log.h"
#include "converter/replay/chunk_map.h"
#include "converter/replay/usage_timeline.h"
#include "converter/trace/host_trace.h"
#include "core/bfc.h"

namespace oom_forensics {

class AllocatorReplay {
 public:
  // Linear in the trace's rows. Both must outlive the replay.
  AllocatorReplay(const HostTrace& host, const AllocatorTrace& trace);
  // Not replayed: VisitState() says what it comes to, IsSound() whether that
  // can be.
  AllocatorReplay(const HostTrace& host, const AllocatorTrace& trace,
                  NotReplayed);
  AllocatorReplay(const AllocatorReplay&) = delete;
  AllocatorReplay& operator=(const AllocatorReplay&) = delete;

  const HostTrace& host() const { return host_; }
  const AllocatorTrace& trace() const { return trace_; }
  Position end_position() const { return trace_.row_count(); }

  // For a kAlloc row: the row that ended it (its free, or the allocation that
  // took its place where the free is missing); kNoRow: it lives to the end.
  // For a kFree row: the kAlloc row that it ends; kNoRow: unknown.
  Row PartnerOf(Row row) const { return partner_[row]; }
  Row EndOf(Row alloc) const { return partner_[alloc]; }
  bool IsLiveAt(Row alloc, Position position) const {
    return alloc < position &&
           (partner_[alloc] == kNoRow || partner_[alloc] >= position);
  }
  const AllocationSite& SiteOf(Row alloc) const {
    return host_.sites.Get(trace_.site[alloc]);
  }
  uint64_t BytesOf(Row alloc) const { return SiteOf(alloc).allocated_bytes; }

  // What it takes to meet a request: a pool gives whole units.
  uint64_t BytesToPlace(uint64_t requested_bytes) const {
    return trace_.has_layout ? RoundedBytes(requested_bytes) : requested_bytes;
  }

  // When the allocation was made; before the recording for the baseline.
  int64_t BornPs(Row alloc) const;
  // When it ended; the end of the trace where it never did.
  int64_t DiedPs(Row alloc) const;

  // What is in use, requested, reserved and live.
  const UsageTimeline& usage() const { return usage_; }
  // The position of highest use (the first, if several are equal).
  Position peak_position() const { return peak_position_; }
  // The states that OOMs (not probes) met, in order.
  const std::vector<Position>& failure_positions() const {
    return failure_positions_;
  }

  // The live allocations (kAlloc rows) by address.
  std::vector<Row> LiveAt(Position position) const;
  // The regions held, by address.
  std::vector<MappedRegion> RegionsAt(Position position) const;
  // Regions, chunks and the holes between them; empty where the allocator has
  // no layout.
  ChunkMap MapAt(Position position) const;

  // The state that a time saw: after all rows up to and including it.
  Position PositionAfter(int64_t time_ps) const {
    return trace_.PositionAt(time_ps == INT64_MAX ? time_ps : time_ps + 1);
  }
  // When a position was reached: the time of the row before it.
  int64_t TimePsOf(Position position) const;

  // Regions were derived from the chunks, as the trace has none.
  bool regions_derived() const { return regions_derived_; }
  // The changes of regions, recorded or derived, by row; a derived region is
  // there from the start (row 0).
  const std::vector<RegionChange>& region_changes() const { return regions_; }
  // Allocations that replaced one whose free is missing: {row, replaced row}.
  const std::vector<std::pair<Row, Row>>& replacements() const {
    return replacements_;
  }

  // What the replay found, beside the trace's own quality.
  const QualityLog& quality() const { return quality_; }
  uint64_t alloc_count() const { return alloc_count_; }
  uint64_t free_count() const { return free_count_; }
  // The largest that was ever asked for, in vain or not.
  uint64_t largest_request_bytes() const { return largest_request_bytes_; }
  // Memory held by the replay, without the trace's.
  uint64_t ResidentBytes() const;

  // All that a replay came to, for who keeps it.
  template <typename Visitor>
  void VisitState(Visitor& visit) {
    visit(partner_, replacements_, regions_, regions_derived_, usage_,
          keyframes_, failure_positions_, peak_position_, alloc_count_,
          free_count_, largest_request_bytes_, quality_);
  }
  // Every number in it that is used as an index is one.
  bool IsSound() const;

  struct Keyframe {
    Position position = 0;
    Column<Row> live_by_address;
  };

 private:
  void MatchFrees();
  void NoteRequest(Row row);
  void CollectRegions();
  void CheckRemovals();
  void CheckMaps();
  void BuildKeyframes();
  std::vector<Row> Advance(const Keyframe& from, Position position) const;

  const HostTrace& host_;
  const AllocatorTrace& trace_;
  Column<Row> partner_;
  std::vector<std::pair<Row, Row>> replacements_;
  std::vector<RegionChange> regions_;
  bool regions_derived_ = false;
  UsageTimeline usage_;
  std::vector<Keyframe> keyframes_;
  std::vector<Position> failure_positions_;
  Position peak_position_ = 0;
  uint64_t alloc_count_ = 0;
  uint64_t free_count_ = 0;
  uint64_t largest_request_bytes_ = 0;
  QualityLog quality_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_ALLOCATOR_REPLAY_H_
