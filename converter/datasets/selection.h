// The part of a run that a query is about: hosts, allocators, allocations, a
// range and a moment. All datasets go through it, so every filter works on all
// of them.
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
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/datasets/allocation_part.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Names an allocator of a run: indices into Run::hosts() and its allocators.
struct AllocatorRef {
  size_t host = 0;
  size_t allocator = 0;

  friend bool operator==(const AllocatorRef& a, const AllocatorRef& b) {
    return a.host == b.host && a.allocator == b.allocator;
  }
};

// An allocator whose events are in memory, as long as this is.
struct SelectedAllocator {
  SharedHost host;
  const AllocatorReplay* replay = nullptr;
  AllocatorRef ref;
};

SelectedAllocator LoadAllocator(const Run& run, const AllocatorRef& ref);

// Allocators of a run. Walking through them has one host at a time in memory,
// unless the loop keeps more; their names and numbers need none.
class Selection {
 public:
  Selection(const Run& run, std::vector<AllocatorRef> refs)
      : run_(&run), refs_(std::move(refs)) {}

  class Iterator {
   public:
    Iterator(const Run* run, std::vector<AllocatorRef>::const_iterator at)
        : run_(run), at_(at) {}
    SelectedAllocator operator*() const { return LoadAllocator(*run_, *at_); }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const Run* run_;
    std::vector<AllocatorRef>::const_iterator at_;
  };

  Iterator begin() const { return {run_, refs_.begin()}; }
  Iterator end() const { return {run_, refs_.end()}; }
  const Run& run() const { return *run_; }
  const std::vector<AllocatorRef>& refs() const { return refs_; }
  const HostSummary& HostOf(const AllocatorRef& ref) const {
    return run_->hosts()[ref.host];
  }
  const AllocatorSummary& SummaryOf(const AllocatorRef& ref) const {
    return HostOf(ref).allocators[ref.allocator];
  }

 private:
  const Run* run_;
  std::vector<AllocatorRef> refs_;
};

// The hosts and allocators that the filter keeps, in the run's order. Fails
// where the filter names one that the run does not have.
absl::StatusOr<Selection> SelectAllocators(const Run& run,
                                           const Filter& filter);

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
  // True: whether an allocation passes depends on its site alone.
  bool by_site_only() const {
    return !by_address_ && !by_step_ && !by_time_ && roles_ == nullptr;
  }
  // Whether allocations of a site can pass.
  bool KeepsSite(SiteId site) const {
    return site_kept_.empty() || site_kept_[site];
  }
  // For a block that is opened: whether any of its parts passes.
  bool operator()(Row alloc) const;

  // The parts of a site that is shown opened; null: it is shown whole.
  const std::vector<SitePart>* OpenedParts(SiteId site) const {
    return opens_blocks_ ? PartsOfSite(replay_.host(), site) : nullptr;
  }
  // Calls `f(const AllocationPart&)` for what passes of an allocation: itself,
  // or each part that does of a block that is opened.
  template <typename F>
  void ForEachPart(Row alloc, F f) const {
    const SiteId site = replay_.trace().site[alloc];
    const std::vector<SitePart>* parts = OpenedParts(site);
    if (parts == nullptr) {
      if ((*this)(alloc)) f(AllocationPart{alloc, site});
      return;
    }
    if (!keeps_all_ && !KeepsBirth(alloc)) return;
    for (size_t i = 0; i < parts->size(); ++i) {
      const SitePart& part = (*parts)[i];
      if (keeps_all_ || KeepsPart(alloc, part)) {
        f(AllocationPart{alloc, part.site, static_cast<int32_t>(i),
                         part.offset_bytes});
      }
    }
  }
  // Whether a part of a block at that address passes, whenever it was made.
  bool KeepsPartOfSite(const SitePart& part) const {
    return keeps_all_ || KeepsPartByNature(part);
  }

 private:
  bool MatchesSite(const Filter& filter, SiteId site) const;
  bool KeepsBirth(Row alloc) const;
  bool KeepsPart(Row alloc, const SitePart& part) const;
  // All but its address.
  bool KeepsPartByNature(const SitePart& part) const;
  bool CoversAddress(uint64_t address, uint64_t size_bytes) const {
    return address_ >= address && address_ - address < size_bytes;
  }

  const AllocatorReplay& replay_;
  bool keeps_all_ = true;
  bool opens_blocks_ = true;
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
NsRange SelectedRange(const Selection& selected, const Filter& filter);

// One OOM of the run.
struct OomRef {
  AllocatorRef allocator;
  // The failure's row in its allocator.
  Row row = kNoRow;
  int64_t time_ns = 0;
  int64_t step = kUnknownStep;
};

// All OOMs of the run by time; their index here is their number everywhere.
std::vector<OomRef> ListOoms(const Run& run);

// The allocator that is shown where there is room for one: of the first OOM,
// else the one that held most. Null: there is none.
const AllocatorRef* ChooseAllocator(const Selection& selected);

// The position that the query's moment means for this allocator; where it has
// none, the first OOM, else the peak. For another allocator than the one that
// failed, an OOM is its time.
absl::StatusOr<Position> ResolveMoment(const Run& run,
                                       const SelectedAllocator& allocator,
                                       const Query& query);
absl::StatusOr<Position> ResolveMoment(const Run& run,
                                       const SelectedAllocator& allocator,
                                       const Moment& moment);

// Parses "peak", "oom:N", "end", "step:N", "event:N" or a time in nanoseconds
// since the epoch.
absl::StatusOr<Moment> ParseMoment(const std::string& text);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_SELECTION_H_
