// What of a run a query is about: hosts, allocators, allocations, a range and
// a moment. All datasets go through it, so every filter works on all of them.
//
//   for (const SelectedAllocator& a : SelectAllocators(run, query.filter())) {
//     RowPredicate keeps(*a.replay, query.filter());
//     Position p = ResolveMoment(*a.replay, query);
//     for (Row row : a.replay->LiveAt(p)) if (keeps(row)) ...
//   }
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_SELECTION_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_SELECTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

struct SelectedAllocator {
  const HostAnalysis* host = nullptr;
  const AllocatorReplay* replay = nullptr;
};

// The hosts and allocators that the filter keeps, in the run's order. Fails
// where the filter names one that the run does not have.
absl::StatusOr<std::vector<SelectedAllocator>> SelectAllocators(
    const Run& run, const Filter& filter);

// Whether an allocation passes min_bytes, scope, dtype, search, role and the
// step range (by its birth). Time is not looked at: what it means depends on
// the dataset.
class RowPredicate {
 public:
  RowPredicate(const AllocatorReplay& replay, const Filter& filter);
  // True: every row passes.
  bool keeps_all() const { return keeps_all_; }
  bool operator()(Row alloc) const;
  // Whether the site passes, the step and address aside.
  bool KeepsSite(SiteId site) const { return site_kept_[site]; }

 private:
  const AllocatorReplay& replay_;
  bool keeps_all_ = true;
  std::vector<bool> site_kept_;
  bool by_step_ = false;
  int64_t from_step_ = 0;
  int64_t to_step_ = 0;
  bool by_address_ = false;
  uint64_t address_ = 0;
};

// A half-open range of time in picoseconds of the host's trace.
struct TimeRange {
  int64_t from_ps = 0;
  int64_t to_ps = 0;
};

// The filter's range of time or steps; where it has none, from the first event
// of any of the host's allocators to just after the last.
TimeRange SelectedRange(const HostAnalysis& host, const Filter& filter);

// The position that the query's `at` means for this allocator; where it has
// none, the first OOM, else the peak. OOMs are numbered over the whole run, in
// the order of OOM_WINDOW: for another allocator, an OOM is its time.
absl::StatusOr<Position> ResolveMoment(const Run& run,
                                       const SelectedAllocator& allocator,
                                       const Moment* at);

// Parses "peak", "oom:N", "end" or a time in nanoseconds since the epoch.
absl::StatusOr<Moment> ParseMoment(const std::string& text);

// One OOM of the run.
struct OomRef {
  SelectedAllocator allocator;
  const FailedRequest* failure = nullptr;
  int64_t time_ns = 0;
};

// All OOMs of the run by time, then host and allocator; their index here is
// their number everywhere.
std::vector<OomRef> ListOoms(const Run& run);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_SELECTION_H_
