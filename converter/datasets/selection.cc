#include "converter/datasets/selection.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"
#include "converter/trace/site_source.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

absl::Status NoSuch(absl::string_view what, const std::string& asked,
                    std::vector<std::string> there) {
  if (there.empty()) {
    return absl::NotFoundError(
        absl::StrCat("There is no ", what, " ", asked, " in this run."));
  }
  std::sort(there.begin(), there.end());
  there.erase(std::unique(there.begin(), there.end()), there.end());
  constexpr size_t kListed = 20;
  if (there.size() > kListed) there.resize(kListed);
  return absl::NotFoundError(
      absl::StrCat("There is no ", what, " ", asked,
                   "; there are: ", absl::StrJoin(there, ", "), "."));
}

bool ParseAddress(std::string_view text, uint64_t* address) {
  return (ConsumePrefix(&text, "0x") || ConsumePrefix(&text, "0X")) &&
         ParseInteger(text, address, 16);
}

bool ContainsIgnoringCase(const std::string& text, const std::string& lower) {
  return absl::StrContains(absl::AsciiStrToLower(text), lower);
}

bool FiltersByLine(const Filter& filter) {
  return !filter.source_file().empty() || filter.source_line() != 0 ||
         !filter.source_function().empty();
}

bool IsToldBy(const HostTrace& host, const AllocationSite& site,
              const Filter& filter) {
  const LineId id = SourceOf(host, site).line;
  if (id == kNoLine) return false;
  const CodeLine& line = host.source.LineAt(id);
  const std::string& file = host.strings.Get(line.file);
  // A name without folders is any file of that name.
  const bool same_file = filter.source_file().empty() ||
                         file == filter.source_file() ||
                         (filter.source_file().find('/') == std::string::npos &&
                          BaseName(file) == filter.source_file());
  return same_file &&
         (filter.source_line() == 0 || line.line == filter.source_line()) &&
         (filter.source_function().empty() ||
          host.strings.Get(line.function) == filter.source_function());
}

// The highest moment of the step; of all of them, where several have its
// number.
absl::StatusOr<Position> PeakOfStep(const AllocatorReplay& replay,
                                    const HostTrace& host, int64_t number) {
  std::optional<UsageExtremes> highest;
  for (const TrainingStep& step : host.steps) {
    if (step.number != number) continue;
    const UsageExtremes extremes =
        replay.usage().Over(replay.trace().PositionAt(step.begin_ps),
                            replay.trace().PositionAt(step.end_ps));
    if (!highest.has_value() ||
        extremes.in_use_max_bytes > highest->in_use_max_bytes) {
      highest = extremes;
    }
  }
  if (highest.has_value()) return highest->in_use_max_position;
  if (host.steps.empty()) {
    return absl::NotFoundError("This trace has no training steps.");
  }
  return absl::NotFoundError(absl::StrCat(
      "There is no step ", number, "; the trace has the steps ",
      host.steps.front().number, " to ", host.steps.back().number, "."));
}

}  // namespace

SelectedAllocator LoadAllocator(const Run& run, const AllocatorRef& ref) {
  SharedHost host = run.Load(ref.host);
  const AllocatorReplay* replay = host->allocators()[ref.allocator].get();
  return {std::move(host), replay, ref};
}

absl::StatusOr<Selection> SelectAllocators(const Run& run,
                                           const Filter& filter) {
  std::vector<AllocatorRef> selected;
  std::vector<std::string> hosts;
  std::vector<std::string> allocators;
  bool host_found = filter.host().empty();
  for (size_t i = 0; i < run.hosts().size(); ++i) {
    const HostSummary& host = run.hosts()[i];
    hosts.push_back(host.host);
    if (!filter.host().empty() && host.host != filter.host()) continue;
    host_found = true;
    for (size_t j = 0; j < host.allocators.size(); ++j) {
      const std::string& name = host.allocators[j].name;
      allocators.push_back(name);
      if (!filter.allocator().empty() && name != filter.allocator()) continue;
      selected.push_back({i, j});
    }
  }
  if (!host_found) return NoSuch("host", filter.host(), std::move(hosts));
  if (selected.empty() && !filter.allocator().empty()) {
    return NoSuch("allocator", filter.allocator(), std::move(allocators));
  }
  return Selection(run, std::move(selected));
}

RowPredicate::RowPredicate(const SelectedAllocator& allocator,
                           const Filter& filter, BirthRule birth_rule)
    : replay_(*allocator.replay), opens_blocks_(!filter.whole_blocks()) {
  const HostTrace& host = replay_.host();
  if (filter.role() != ROLE_UNKNOWN) {
    roles_ = &allocator.host->Roles(replay_);
    role_ = filter.role();
  }
  by_address_ = ParseAddress(filter.search(), &address_);
  const bool by_site = filter.min_bytes() > 0 || !filter.scope().empty() ||
                       !filter.dtype().empty() || FiltersByLine(filter) ||
                       (!filter.search().empty() && !by_address_);
  if (by_site) {
    site_kept_.resize(host.sites.size());
    for (SiteId site = 0; site < host.sites.size(); ++site) {
      site_kept_[site] = MatchesSite(filter, site);
    }
  }
  if (birth_rule == BirthRule::kFiltered) {
    by_step_ = filter.has_from_step() || filter.has_to_step();
    from_step_ = filter.has_from_step() ? filter.from_step() : 0;
    to_step_ = filter.has_to_step() ? filter.to_step() : kMax;
    by_time_ = filter.has_from_ns() || filter.has_to_ns();
    from_ps_ = filter.has_from_ns() ? host.ToPs(filter.from_ns()) : kMin;
    to_ps_ = filter.has_to_ns() ? host.ToPs(filter.to_ns()) : kMax;
  }
  keeps_all_ =
      !by_site && !by_address_ && !by_step_ && !by_time_ && roles_ == nullptr;
}

bool RowPredicate::MatchesSite(const Filter& filter, SiteId id) const {
  const HostTrace& host = replay_.host();
  const AllocationSite& site = host.sites.Get(id);
  if (site.allocated_bytes < filter.min_bytes()) return false;
  if (!IsInScope(host.OpOf(site), filter.scope())) return false;
  if (!filter.dtype().empty() && DtypeName(site.dtype) != filter.dtype()) {
    return false;
  }
  if (FiltersByLine(filter) && !IsToldBy(host, site, filter)) return false;
  if (filter.search().empty() || by_address_) return true;
  const std::string search = absl::AsciiStrToLower(filter.search());
  return ContainsIgnoringCase(host.OpOf(site), search) ||
         ContainsIgnoringCase(host.ShapeOf(site), search) ||
         absl::StrContains(DtypeName(site.dtype), search);
}

bool RowPredicate::operator()(Row alloc) const {
  if (keeps_all_) return true;
  const AllocatorTrace& trace = replay_.trace();
  const SiteId site = trace.site[alloc];
  if (const std::vector<SitePart>* parts = OpenedParts(site)) {
    return KeepsBirth(alloc) &&
           std::any_of(parts->begin(), parts->end(),
                       [this, alloc](const SitePart& part) {
                         return KeepsPart(alloc, part);
                       });
  }
  if (!KeepsSite(site)) return false;
  if (by_address_ &&
      !CoversAddress(trace.address[alloc], replay_.BytesOf(alloc))) {
    return false;
  }
  if (roles_ != nullptr && roles_->RoleOf(alloc) != role_) return false;
  return KeepsBirth(alloc);
}

bool RowPredicate::KeepsPartByNature(const SitePart& part) const {
  if (!KeepsSite(part.site)) return false;
  return roles_ == nullptr || roles_->RoleOfPart(part.site) == role_;
}

bool RowPredicate::KeepsPart(Row alloc, const SitePart& part) const {
  return KeepsPartByNature(part) &&
         (!by_address_ ||
          CoversAddress(replay_.trace().address[alloc] + part.offset_bytes,
                        replay_.host().sites.Get(part.site).allocated_bytes));
}

bool RowPredicate::KeepsBirth(Row alloc) const {
  if (!by_step_ && !by_time_) return true;
  const int64_t born_ps = replay_.BornPs(alloc);
  if (by_time_ && (born_ps < from_ps_ || born_ps >= to_ps_)) return false;
  if (!by_step_) return true;
  const int64_t step = replay_.host().StepAt(born_ps);
  return step >= from_step_ && step <= to_step_ && step != kUnknownStep;
}

NsRange SelectedRange(const Selection& selected, const Filter& filter) {
  NsRange range{kMax, kMin};
  if (filter.has_from_step() || filter.has_to_step()) {
    for (const SelectedAllocator& allocator : selected) {
      const HostTrace& host = allocator.host->trace();
      for (const TrainingStep& step : host.steps) {
        if (filter.has_from_step() && step.number < filter.from_step()) {
          continue;
        }
        if (filter.has_to_step() && step.number > filter.to_step()) continue;
        range.from_ns = std::min(range.from_ns, host.ToNs(step.begin_ps));
        range.to_ns = std::max(range.to_ns, host.ToNs(step.end_ps));
      }
    }
  } else {
    for (const AllocatorRef& ref : selected.refs()) {
      const auto& events = selected.SummaryOf(ref).events;
      if (!events.has_value()) continue;
      range.from_ns = std::min(range.from_ns, events->first_ns);
      range.to_ns = std::max(range.to_ns, events->last_ns + 1);
    }
  }
  if (filter.has_from_ns()) range.from_ns = filter.from_ns();
  if (filter.has_to_ns()) range.to_ns = filter.to_ns();
  if (range.from_ns == kMax && range.to_ns == kMin) return {0, 0};
  range.to_ns = std::max(range.to_ns, range.from_ns);
  return range;
}

std::vector<OomRef> ListOoms(const Run& run) {
  std::vector<OomRef> ooms;
  for (size_t i = 0; i < run.hosts().size(); ++i) {
    for (const OomSummary& oom : run.hosts()[i].ooms) {
      ooms.push_back({{i, oom.allocator}, oom.row, oom.time_ns, oom.step});
    }
  }
  std::stable_sort(
      ooms.begin(), ooms.end(),
      [](const OomRef& a, const OomRef& b) { return a.time_ns < b.time_ns; });
  return ooms;
}

absl::StatusOr<Position> ResolveMoment(const Run& run,
                                       const SelectedAllocator& allocator,
                                       const Query& query) {
  if (query.has_at()) return ResolveMoment(run, allocator, query.at());
  Moment moment;
  if (ListOoms(run).empty()) {
    moment.set_peak(true);
  } else {
    moment.set_oom(0);
  }
  return ResolveMoment(run, allocator, moment);
}

absl::StatusOr<Position> ResolveMoment(const Run& run,
                                       const SelectedAllocator& allocator,
                                       const Moment& moment) {
  const AllocatorReplay& replay = *allocator.replay;
  const HostTrace& host = allocator.host->trace();
  switch (moment.at_case()) {
    case Moment::kTimeNs: {
      const int64_t next_ns =
          moment.time_ns() == kMax ? kMax : moment.time_ns() + 1;
      return std::max(replay.trace().baseline_rows,
                      replay.trace().PositionAt(host.ToPs(next_ns)));
    }
    case Moment::kOom: {
      const std::vector<OomRef> ooms = ListOoms(run);
      if (moment.oom() < 0 ||
          static_cast<size_t>(moment.oom()) >= ooms.size()) {
        return absl::NotFoundError(absl::StrCat("There is no OOM ",
                                                moment.oom(), "; the run has ",
                                                ooms.size(), "."));
      }
      const OomRef& oom = ooms[static_cast<size_t>(moment.oom())];
      if (oom.allocator == allocator.ref) return oom.row;
      return std::max(replay.trace().baseline_rows,
                      replay.trace().PositionAt(host.ToPs(oom.time_ns)));
    }
    case Moment::kEnd:
      return replay.end_position();
    case Moment::kEvent: {
      if (moment.event() == -1) return replay.trace().baseline_rows;
      const Row row = replay.trace().RowOf(moment.event());
      if (row == kNoRow) {
        return absl::NotFoundError(absl::StrCat("There is no event ",
                                                moment.event(), " of ",
                                                replay.trace().name, "."));
      }
      return row + 1;
    }
    case Moment::kStep:
      return PeakOfStep(replay, host, moment.step());
    case Moment::kPeak:
    case Moment::AT_NOT_SET:
      return replay.peak_position();
  }
  return replay.peak_position();
}

absl::StatusOr<Moment> ParseMoment(const std::string& text) {
  Moment moment;
  std::string_view rest = text;
  int32_t oom = 0;
  int64_t number = 0;
  if (rest == "peak") {
    moment.set_peak(true);
  } else if (rest == "end") {
    moment.set_end(true);
  } else if (ConsumePrefix(&rest, "oom:") && ParseInteger(rest, &oom)) {
    moment.set_oom(oom);
  } else if (ConsumePrefix(&rest, "event:") && ParseInteger(rest, &number)) {
    moment.set_event(number);
  } else if (ConsumePrefix(&rest, "step:") && ParseInteger(rest, &number)) {
    moment.set_step(number);
  } else if (ParseInteger(rest, &number)) {
    moment.set_time_ns(number);
  } else {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", text,
        "\" is no moment: use peak, end, oom:N, step:N, event:N, or a time: "
        "\"2026-01-31 09:15:00\" (UTC) or nanoseconds since the epoch."));
  }
  return moment;
}

const AllocatorRef* ChooseAllocator(const Selection& selected) {
  const std::vector<AllocatorRef>& refs = selected.refs();
  for (const OomRef& oom : ListOoms(selected.run())) {
    const auto failed = std::find(refs.begin(), refs.end(), oom.allocator);
    if (failed != refs.end()) return &*failed;
  }
  const auto peak_bytes = [&selected](const AllocatorRef& ref) {
    return selected.SummaryOf(ref).info.peak_in_use_bytes();
  };
  const auto most =
      std::max_element(refs.begin(), refs.end(),
                       [&](const AllocatorRef& a, const AllocatorRef& b) {
                         return peak_bytes(a) < peak_bytes(b);
                       });
  return most == refs.end() ? nullptr : &*most;
}

}  // namespace oom_forensics
