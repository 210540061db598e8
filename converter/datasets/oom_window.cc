#include "converter/datasets/oom_window.h"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "converter/datasets/derived.h"
#include "converter/datasets/messages.h"
#include "converter/forensics/oom_case.h"
#include "converter/forensics/pins.h"
#include "converter/forensics/remedies.h"
#include "converter/forensics/verdict.h"
#include "converter/replay/memory_dump.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

constexpr Row kRecentEvents = 50;
constexpr size_t kHolders = 20;

Request MakeRequest(const OomRef& oom) {
  const AllocatorReplay& replay = *oom.allocator.replay;
  const HostTrace& host = oom.allocator.host->trace();
  const Row row = oom.failure->row;
  const AllocationSite& site = replay.SiteOf(row);
  const std::string& op = host.OpOf(site);
  Request request;
  request.set_op_name(op);
  request.set_scope(std::string(ScopeOf(op)));
  request.set_op_type(std::string(OpTypeOf(op)));
  request.set_requested_bytes(site.requested_bytes);
  request.set_rounded_bytes(RoundedBytes(site.requested_bytes));
  std::vector<int64_t> dims;
  request.set_has_shape(ParseShape(host.ShapeOf(site), &dims));
  request.mutable_shape()->Assign(dims.begin(), dims.end());
  request.set_dtype(DtypeName(site.dtype));
  request.set_step_id(replay.trace().ContextOf(row).step_id);
  request.set_thread(replay.trace().ContextOf(row).thread);
  request.set_step(host.StepAt(replay.trace().time_ps[row]));
  request.set_waited_ns(oom.failure->waited_ns);
  request.set_role(
      oom.allocator.host->Roles(replay).RoleOfFailed(replay.trace().site[row]));
  request.set_mode(ModeOf(host, site));
  return request;
}

DumpCheck CheckDump(const OomRef& oom, const ChunkMap& map) {
  DumpCheck check;
  if (oom.failure->memory_dump.empty()) return check;
  const std::vector<DumpedChunk> dump =
      ParseMemoryDump(oom.failure->memory_dump);
  const MapDifference difference =
      CompareWithDump(*oom.allocator.replay, map, dump);
  check.set_has_dump(true);
  check.set_equal(difference.different_chunks == 0);
  check.set_chunks(difference.dumped_chunks);
  check.set_different_chunks(difference.different_chunks);
  check.set_difference(difference.first);
  return check;
}

// Holders are told apart by op, shape and dtype: chunks of one tensor may
// differ in size, as the allocator does not always split one.
void FillHolders(const SelectedAllocator& allocator,
                 const std::vector<Row>& live, Oom* message) {
  struct Sum {
    uint64_t count = 0;
    uint64_t bytes = 0;
    Row example = kNoRow;
  };
  const AllocatorReplay& replay = *allocator.replay;
  absl::flat_hash_map<std::tuple<StringId, StringId, int32_t>, Sum> sums;
  for (const Row row : live) {
    const AllocationSite& site = replay.SiteOf(row);
    Sum& sum = sums[{site.op, site.shape, site.dtype}];
    ++sum.count;
    sum.bytes += replay.BytesOf(row);
    sum.example = std::min(sum.example, row);
  }
  std::vector<Sum> largest;
  for (const auto& [key, sum] : sums) largest.push_back(sum);
  std::sort(largest.begin(), largest.end(), [](const Sum& a, const Sum& b) {
    return std::pair(b.bytes, a.example) < std::pair(a.bytes, b.example);
  });
  if (largest.size() > kHolders) largest.resize(kHolders);
  for (const Sum& sum : largest) {
    Holder* holder = message->add_holders();
    *holder->mutable_example() = MakeAllocation(allocator, sum.example);
    const AllocationSite& site = replay.SiteOf(sum.example);
    const HostTrace& host = allocator.host->trace();
    holder->set_key(absl::StrCat(host.OpOf(site), " ", host.ShapeOf(site), " ",
                                 DtypeName(site.dtype)));
    holder->set_count(sum.count);
    holder->set_allocated_bytes(sum.bytes);
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

// The cost that was asked for, then the others.
void FillPins(const SelectedAllocator& allocator, const OomCase& oom,
              PinCost asked, Oom* message) {
  std::vector<PinCost> costs = {asked};
  for (const PinCost other : {PIN_COST_BYTES, PIN_COST_COUNT, PIN_COST_AGE}) {
    if (other != asked) costs.push_back(other);
  }
  for (const PinCost cost : costs) {
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

void FillForensics(const SelectedAllocator& allocator, Row failure,
                   PinCost pin_cost, Oom* message) {
  const OomCase oom(*allocator.replay, allocator.host->Roles(*allocator.replay),
                    failure);
  *message->mutable_verdict() =
      JudgeOom(oom, PressureAt(*allocator.host, *allocator.replay, failure));
  FillPins(allocator, oom, pin_cost, message);
  for (Remedy& remedy : FindRemedies(oom)) {
    *message->add_remedies() = std::move(remedy);
  }
}

void FillOom(const OomRef& oom, int index, const RowPredicate& keeps,
             PinCost pin_cost, Oom* message) {
  const SelectedAllocator& allocator = oom.allocator;
  const AllocatorReplay& replay = *allocator.replay;
  const FailedRequest& failure = *oom.failure;
  const Position position = failure.row;
  const ChunkMap map = replay.MapAt(position);
  const Usage usage = replay.usage().At(position);
  const uint64_t request_bytes = replay.SiteOf(failure.row).requested_bytes;
  message->set_index(index);
  message->set_host(allocator.host->trace().host);
  message->set_allocator(replay.trace().name);
  message->set_time_ns(oom.time_ns);
  message->set_event(replay.trace().EventOf(failure.row));
  *message->mutable_request() = MakeRequest(oom);
  FragmentationMeasures* measures = message->mutable_measures();
  *measures = MakeMeasures(replay, position, HolesOf(map, request_bytes),
                           request_bytes);
  const uint64_t limit = failure.limit_bytes > 0 ? failure.limit_bytes
                                                 : replay.trace().limit_bytes;
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
                                 RoundedBytes(request_bytes));
  message->set_live_count(usage.live_count);
  *message->mutable_dump_check() = CheckDump(oom, map);
  FillForensics(allocator, failure.row, pin_cost, message);
  const Row first = position - std::min(position, kRecentEvents);
  for (Row row = std::max(first, replay.trace().baseline_rows); row < position;
       ++row) {
    *message->add_recent() = MakeTimelineEvent(allocator, row);
  }
  std::vector<Row> live = replay.LiveAt(position);
  live.erase(std::remove_if(live.begin(), live.end(),
                            [&keeps](Row row) { return !keeps(row); }),
             live.end());
  FillHolders(allocator, live, message);
}

bool IsAskedFor(const OomRef& oom, const Query& query) {
  const Filter& filter = query.filter();
  const HostTrace& host = oom.allocator.host->trace();
  const AllocatorReplay& replay = *oom.allocator.replay;
  if (!filter.host().empty() && filter.host() != host.host) return false;
  if (!filter.allocator().empty() &&
      filter.allocator() != replay.trace().name) {
    return false;
  }
  if (filter.has_from_ns() && oom.time_ns < filter.from_ns()) return false;
  if (filter.has_to_ns() && oom.time_ns >= filter.to_ns()) return false;
  const int64_t step = host.StepAt(replay.trace().time_ps[oom.failure->row]);
  if (filter.has_from_step() && step < filter.from_step()) return false;
  if (filter.has_to_step() && step > filter.to_step()) return false;
  return true;
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerOomWindow(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  auto answer = std::make_unique<OomWindow>();
  const std::vector<OomRef> ooms = ListOoms(input.run);
  for (size_t i = 0; i < ooms.size(); ++i) {
    const int index = static_cast<int>(i);
    if (query.has_oom() && query.oom() != index) continue;
    if (!IsAskedFor(ooms[i], query)) continue;
    // Among the holders; the failure itself is never filtered by its op.
    const RowPredicate keeps(ooms[i].allocator, query.filter(),
                             BirthRule::kIgnored);
    // What led to it is the dearest answer of all, and asked for again at each
    // visit of its view.
    const std::string name = DerivedName(
        absl::StrCat("oom ", index, " ", static_cast<int>(query.pin_cost())),
        ooms[i].allocator, query.filter());
    *answer->add_ooms() = *ooms[i].allocator.host->cache().Get<Oom>(name, [&] {
      auto oom = std::make_shared<Oom>();
      FillOom(ooms[i], index, keeps, query.pin_cost(), oom.get());
      return oom;
    });
    const DumpCheck& check = answer->ooms().rbegin()->dump_check();
    if (check.has_dump() && !check.equal()) {
      QualityLog log;
      log.Add(QualityCounter::kDumpDiffers, check.different_chunks());
      *answer->add_quality() = log.Entries(answer->ooms().rbegin()->host(),
                                           answer->ooms().rbegin()->allocator())
                                   .front();
    }
  }
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
