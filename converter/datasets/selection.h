// What of a run a query is about: hosts, allocators, allocations, a range and
// a moment. All datasets go through it, so every filter works on all of them.
//
//   for (const SelectedAllocator& a : *SelectAllocators(run, query.filter())) {
//     RowPredicate keeps(a, query.filter(), BirthRule::kFiltered);
//     Position p = *ResolveMoment(run, a, query);
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

// Whether the filter's range of time and steps restricts when an allocation was
// made, or is a range to look at.
enum class BirthRule { kIgnored, kFiltered };

// Whether an allocation (a kAlloc row) passes min_bytes, scope, dtype, search
// and, by the rule, the range of its birth.
class RowPredicate {
 public:
  RowPredicate(const SelectedAllocator& allocator, const Filter& filter,
               BirthRule birth_rule);
  // True: every row passes.
  bool keeps_all() const { return keeps_all_; }
  bool operator()(Row alloc) const;

 private:
  bool KeepsSite(const Filter& filter, SiteId site) const;

  const AllocatorReplay& replay_;
  bool keeps_all_ = true;
  std::vector<bool> site_kept_;
  bool by_step_ = false;
  int64_t from_step_ = 0;
  int64_t to_step_ = 0;
  bool by_time_ = false;
  int64_t from_ps_ = 0;
  int64_t to_ps_ = 0;
  bool by_address_ = false;
  uint64_t address_ = 0;
  // Null: all roles.
  const RoleClassifier* roles_ = nullptr;
  Role role_ = ROLE_UNKNOWN;
};

// The filter's range of time and steps, cut to what the run has: from the first
// event of any allocator to just after the last. In nanoseconds, so that it
// means the same for all hosts.
struct NsRange {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};
NsRange SelectedRange(const std::vector<SelectedAllocator>& selected,
                      const Filter& filter);

// One OOM of the run.
struct OomRef {
  SelectedAllocator allocator;
  const FailedRequest* failure = nullptr;
  int64_t time_ns = 0;
};

// All OOMs of the run by time; their index here is their number everywhere.
std::vector<OomRef> ListOoms(const Run& run);

// The position that the query's moment means for this allocator; where it has
// none, the first OOM, else the peak. For another allocator than the one that
// failed, an OOM is its time.
absl::StatusOr<Position> ResolveMoment(const Run& run,
                                       const SelectedAllocator& allocator,
                                       const Query& query);
absl::StatusOr<Position> ResolveMoment(const Run& run,
                                       const SelectedAllocator& allocator,
                                       const Moment& moment);

// Parses "peak", "oom:N", "end", "event:N" or a time in nanoseconds since the
// epoch.
absl::StatusOr<Moment> ParseMoment(const std::string& text);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_SELECTION_H_
