#include "converter/datasets/oom_window.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "converter/cancellation/beside.h"
#include "converter/datasets/allocation_groups.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/cached_timelines.h"
#include "converter/datasets/opening.h"
#include "converter/datasets/source_messages.h"
#include "converter/forensics/block_content.h"
#include "converter/forensics/oom_case/incidents.h"
#include "converter/forensics/oom_case/oom_case.h"
#include "converter/forensics/remedies/pins.h"
#include "converter/forensics/remedies/remedies.h"
#include "converter/forensics/source_frames.h"
#include "converter/forensics/verdict/verdict.h"
#include "converter/replay/device_replay.h"
#include "converter/replay/dump_comparison.h"
#include "converter/trace/op_name.h"
#include "core/data_types.h"

namespace oom_forensics {
namespace {

constexpr Row kRecentEvents = 50;
constexpr size_t kHolders = 20;
// In one answer.
constexpr int kMaxOomsTold = 100;

DumpCheck CheckDump(const AllocatorReplay& replay, const FailedRequest& failure,
                    const ChunkMap& map) {
  DumpCheck check;
  if (failure.Dump().empty()) return check;
  const std::vector<DumpedChunk> dump = ParseMemoryDump(failure.Dump());
  const MapDifference difference = CompareWithDump(replay, map, dump);
  check.set_has_dump(true);
  check.set_equal(difference.different_chunks == 0);
  check.set_chunks(difference.dumped_chunks);
  check.set_different_chunks(difference.different_chunks);
  check.set_difference(difference.first);
  return check;
}

// Holders are told apart by op, shape, dtype and line: chunks of one tensor may
// differ in size, as the allocator does not always split one.
void FillHolders(const SelectedAllocator& allocator, const RowPredicate& keeps,
                 Row failure, Oom* message) {
  struct Sum {
    uint64_t count = 0;
    uint64_t bytes = 0;
    AllocationPart example;
  };
  const AllocatorReplay& replay = *allocator.replay;
  const SiteTable& sites = replay.host().sites;
  absl::flat_hash_map<std::tuple<StringId, StringId, int32_t, LineId>, Sum>
      sums;
  for (const Row row : replay.LiveAt(failure)) {
    keeps.ForEachPart(row, [&](const AllocationPart& part) {
      const AllocationSite& site = sites.Get(part.site);
      Sum& sum = sums[{site.op, site.shape, site.dtype,
                       SourceOf(replay.host(), site).line}];
      ++sum.count;
      sum.bytes += site.allocated_bytes;
      if (std::pair(part.row, part.index) <
          std::pair(sum.example.row, sum.example.index)) {
        sum.example = part;
      }
    });
  }
  std::vector<Sum> largest;
  for (const auto& [key, sum] : sums) largest.push_back(sum);
  std::sort(largest.begin(), largest.end(), [](const Sum& a, const Sum& b) {
    return std::tuple(b.bytes, a.example.row, a.example.index) <
           std::tuple(a.bytes, b.example.row, b.example.index);
  });
  if (largest.size() > kHolders) largest.resize(kHolders);
  for (const Sum& sum : largest) {
    Holder* holder = message->add_holders();
    *holder->mutable_example() = MakePart(allocator, sum.example);
    const AllocationSite& site = sites.Get(sum.example.site);
    const HostTrace& host = allocator.host->trace();
    holder->set_key(absl::StrCat(host.OpOf(site), " ", host.ShapeOf(site), " ",
                                 DtypeName(site.dtype)));
    holder->set_count(sum.count);
    holder->set_allocated_bytes(sum.bytes);
  }
}

// The lines that hold most, those included that nobody recorded.
void FillLines(const SelectedAllocator& allocator, const RowPredicate& keeps,
               const std::vector<Row>& live, Position position, Oom* message) {
  if (allocator.host->trace().source.empty()) return;
  AllocationGroups lines(GROUP_LINE, "");
  for (const Row row : live) {
    keeps.ForEachPart(row, [&](const AllocationPart& part) {
      lines.Add(allocator, part, position);
    });
  }
  lines.Write(SORT_BYTES, false, message->mutable_lines());
  while (message->lines_size() > static_cast<int>(kHolders)) {
    message->mutable_lines()->RemoveLast();
  }
}

ReleaseCost CostOf(PinCost cost) {
  switch (cost) {
    case PIN_COST_COUNT:
      return ReleaseCost::kCount;
    case PIN_COST_AGE:
      return ReleaseCost::kAge;
    default:
      return ReleaseCost::kBytes;
  }
}

// A set for each cost.
void FillPins(const SelectedAllocator& allocator, const OomCase& oom,
              Oom* message) {
  for (const PinCost cost : {PIN_COST_BYTES, PIN_COST_COUNT, PIN_COST_AGE}) {
    const auto set =
        CheapestRelease(oom.layout(), oom.rounded_bytes(), CostOf(cost));
    if (!set.has_value()) continue;
    PinSet* pins = message->add_pins();
    pins->set_cost(cost);
    pins->set_region_address(set->region_address);
    pins->set_hole_address(set->hole_address);
    pins->set_hole_bytes(set->hole_bytes);
    pins->set_released_bytes(set->released_bytes);
    for (const int64_t holder : set->holders) {
      *pins->add_allocations() =
          MakeAllocation(allocator, static_cast<Row>(holder));
    }
  }
}

void PutFirst(PinCost cost, Oom* message) {
  auto* pins = message->mutable_pins();
  const auto asked =
      std::find_if(pins->begin(), pins->end(),
                   [cost](const PinSet& set) { return set.cost() == cost; });
  if (asked != pins->end()) {
    std::rotate(pins->begin(), asked, std::next(asked));
  }
}

void FillForensics(const SelectedAllocator& allocator, Row failure,
                   Oom* message) {
  // Neither needs the other.
  auto leaks = StartBeside(
      [&allocator, failure] { return LeaksAt(allocator, failure); });
  const RoleClassifier& roles = allocator.host->Roles(*allocator.replay);
  const OomCase oom(
      *allocator.replay, roles, failure, leaks.get(),
      PressureAt(allocator.host->trace(), allocator.host->allocators(),
                 *allocator.replay, failure));
  std::vector<Cause> causes = FindCauses(oom);
  *message->mutable_verdict() = JudgeOom(oom, causes);
  FillPins(allocator, oom, message);
  for (Remedy& remedy :
       FindRemedies(oom, std::move(causes), message->verdict())) {
    *message->add_remedies() = std::move(remedy);
  }
}

// All of it but its number and its holders: what no query changes.
void FillStory(const SelectedAllocator& allocator, const FailedRequest& failure,
               Oom* message) {
  const AllocatorReplay& replay = *allocator.replay;
  const HostTrace& host = allocator.host->trace();
  const Position position = failure.row;
  const ChunkMap map = replay.MapAt(position);
  const Usage usage = replay.usage().At(position);
  const uint64_t request_bytes = replay.SiteOf(failure.row).requested_bytes;
  message->set_has_layout(replay.trace().has_layout);
  message->set_host(host.host);
  message->set_allocator(replay.trace().name);
  message->set_time_ns(host.ToNs(replay.trace().time_ps[failure.row]));
  message->set_event(replay.trace().EventOf(failure.row));
  Request* request = message->mutable_request();
  *request = MakeRequest(allocator, failure.row, request_bytes);
  request->set_waited_ns(failure.waited_ns);
  FragmentationMeasures* measures = message->mutable_measures();
  *measures = MakeMeasures(replay, position, HolesOf(map, request_bytes),
                           request_bytes);
  const uint64_t limit = replay.trace().LimitAt(failure.row);
  measures->set_limit_bytes(limit);
  measures->set_growable_bytes(
      limit > usage.reserved_bytes ? limit - usage.reserved_bytes : 0);
  message->set_limit_bytes(limit);
  message->set_reserved_bytes(usage.reserved_bytes);
  message->set_in_use_bytes(usage.in_use_bytes);
  message->set_free_bytes(map.free_bytes);
  message->set_largest_free_bytes(map.largest_free_bytes);
  message->set_growable_bytes(measures->growable_bytes());
  message->set_fits_if_compacted(map.free_bytes + measures->growable_bytes() >=
                                 replay.BytesToPlace(request_bytes));
  message->set_live_count(usage.live_count);
  *message->mutable_dump_check() = CheckDump(replay, failure, map);
  FillForensics(allocator, failure.row, message);
  const AllocationSite& site = replay.SiteOf(failure.row);
  if (host.block_parts.contains(replay.trace().site[failure.row])) {
    const CompiledAllocation& block =
        *host.AllocationOf(*host.CompiledOf(site));
    *message->mutable_block() = ContentOf(block, block.peak);
  }
  const Row first = position - std::min(position, kRecentEvents);
  for (Row row = std::max(first, replay.trace().baseline_rows); row < position;
       ++row) {
    *message->add_recent() = MakeTimelineEvent(allocator, row);
  }
}

// The story is the dearest answer of all, and asked for again at each visit of
// its view.
Oom TellOom(const SelectedAllocator& allocator, Row row, const Query& query) {
  const auto story = allocator.host->oom_cache().Get<Oom>(
      absl::StrCat(allocator.ref.allocator, " ", row), [&] {
        auto oom = std::make_shared<Oom>();
        FillStory(allocator, *allocator.replay->trace().FailureOf(row),
                  oom.get());
        return oom;
      });
  Oom oom = *story;
  PutFirst(query.pin_cost(), &oom);
  // A filter is for the holders; the failure itself never goes by its op.
  const RowPredicate keeps(allocator, query.filter(), BirthRule::kIgnored);
  std::vector<Row> live = allocator.replay->LiveAt(row);
  live.erase(std::remove_if(live.begin(), live.end(),
                            [&keeps](Row alloc) { return !keeps(alloc); }),
             live.end());
  FillHolders(allocator, keeps, row, &oom);
  FillLines(allocator, keeps, live, row, &oom);
  AddKeepers(allocator, live, oom.mutable_keepers());
  FillOpening(&oom);
  return oom;
}

// The replicas of one step run alike: what is refused on another GPU in it is
// the same; where steps are not known, what is refused so soon after.
constexpr int64_t kReplicaWakeNs = 2'000'000'000;

// Which OOMs of the run are of one incident.
class Incidents {
 public:
  // `ooms`: those of the run in order. Loads their allocators.
  Incidents(const Run& run, const std::vector<OomRef>& ooms)
      : ooms_(ooms), begins_(ooms.size()), members_(ooms.size()) {
    for (size_t i = 0; i < ooms.size(); ++i) {
      number_of_[{PlaceOf(ooms[i]), ooms[i].row}] = i;
    }
    for (size_t i = 0; i < ooms.size(); ++i) {
      StopIfCancelled(i);
      begins_[i] = BeginOf(run, i);
      if (begins_[i] != i) members_[begins_[i]].push_back(i);
    }
  }

  // `index`: of one of them.
  void Fill(size_t index, Oom* message) const {
    message->set_incident(static_cast<int32_t>(begins_[index]));
    for (const size_t member : members_[index]) {
      message->add_also_refused(static_cast<int32_t>(member));
    }
  }

 private:
  // The host and its allocator, by their numbers.
  using Place = std::pair<size_t, size_t>;
  struct OfAllocator {
    std::vector<std::vector<Row>> incidents;
    // The GPU that it lies on; -1: on none.
    int gpu = -1;
  };
  static Place PlaceOf(const OomRef& oom) {
    return {oom.allocator.host, oom.allocator.allocator};
  }

  // The first of its incident in its own allocator, or on another GPU.
  size_t BeginOf(const Run& run, size_t index) {
    const OomRef& oom = ooms_[index];
    const Place place = PlaceOf(oom);
    const auto [known, is_new] = allocators_.try_emplace(place);
    if (is_new) {
      const SelectedAllocator allocator = LoadAllocator(run, oom.allocator);
      known->second = {FindIncidents(*allocator.replay),
                       DeviceOrdinalOf(allocator.replay->trace())};
    }
    const OfAllocator& of = known->second;
    const auto incident = std::lower_bound(
        of.incidents.begin(), of.incidents.end(), oom.row,
        [](const std::vector<Row>& each, Row at) { return each.back() < at; });
    if (incident != of.incidents.end() && oom.row > incident->front()) {
      return begins_[number_of_[{place, incident->front()}]];
    }
    if (of.gpu < 0) return index;
    std::map<int, size_t>& last_of_gpu = last_[oom.allocator.host];
    size_t begin = index;
    for (const auto& [gpu, last] : last_of_gpu) {
      if (gpu != of.gpu && ooms_[last].step == oom.step &&
          (oom.step != kUnknownStep ||
           oom.time_ns - ooms_[last].time_ns <= kReplicaWakeNs)) {
        begin = begins_[last];
        break;
      }
    }
    last_of_gpu[of.gpu] = index;
    return begin;
  }

  const std::vector<OomRef>& ooms_;
  absl::flat_hash_map<std::pair<Place, Row>, size_t> number_of_;
  std::map<Place, OfAllocator> allocators_;
  // By host: the last OOM of each GPU that began an incident of its allocator.
  std::map<size_t, std::map<int, size_t>> last_;
  // For each OOM, the number of the one that its incident began with; and the
  // others of an incident at its first one.
  std::vector<size_t> begins_;
  std::vector<std::vector<size_t>> members_;
};

bool IsAskedFor(const Run& run, const OomRef& oom, const Query& query) {
  const Filter& filter = query.filter();
  const HostSummary& host = run.hosts()[oom.allocator.host];
  if (!filter.host().empty() && filter.host() != host.host) return false;
  if (!filter.allocator().empty() &&
      filter.allocator() != host.allocators[oom.allocator.allocator].name) {
    return false;
  }
  if (filter.has_from_ns() && oom.time_ns < filter.from_ns()) return false;
  if (filter.has_to_ns() && oom.time_ns >= filter.to_ns()) return false;
  if (filter.has_from_step() && oom.step < filter.from_step()) return false;
  return !filter.has_to_step() || oom.step <= filter.to_step();
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerOomWindow(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  auto answer = std::make_unique<OomWindow>();
  const std::vector<OomRef> ooms = ListOoms(input.run);
  const Incidents incidents(input.run, ooms);
  QualityLog left_out;
  for (size_t i = 0; i < ooms.size(); ++i) {
    const int index = static_cast<int>(i);
    if (query.has_oom() && query.oom() != index) continue;
    if (!IsAskedFor(input.run, ooms[i], query)) continue;
    if (answer->ooms_size() == kMaxOomsTold) {
      left_out.Add(QualityCounter::kOomsLeftOut);
      continue;
    }
    StopIfCancelled();
    Oom* oom = answer->add_ooms();
    const SelectedAllocator allocator =
        LoadAllocator(input.run, ooms[i].allocator);
    *oom = TellOom(allocator, ooms[i].row, query);
    oom->set_index(index);
    incidents.Fill(i, oom);
    const DumpCheck& check = oom->dump_check();
    if (check.has_dump() && !check.equal()) {
      QualityLog log;
      log.Add(QualityCounter::kDumpDiffers, check.different_chunks());
      *answer->add_quality() =
          log.Entries(oom->host(), oom->allocator()).front();
    }
  }
  for (Quality& entry : left_out.Entries("", "")) {
    *answer->add_quality() = std::move(entry);
  }
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
