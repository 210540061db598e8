#include "converter/datasets/steps.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "converter/datasets/messages.h"

namespace oom_forensics {
namespace {

constexpr uint32_t kDefaultLimit = 100;
constexpr uint32_t kMaxLimit = 10'000;

void FillStepUse(const SelectedAllocator& allocator, const TrainingStep& step,
                 StepUse* use) {
  const AllocatorReplay& replay = *allocator.replay;
  const AllocatorTrace& trace = replay.trace();
  const HostTrace& host = allocator.host->trace();
  use->set_host(host.host);
  use->set_allocator(trace.name);
  use->mutable_step()->set_step(step.number);
  use->mutable_step()->set_begin_ns(host.ToNs(step.begin_ps));
  use->mutable_step()->set_end_ns(host.ToNs(step.end_ps));
  const Position begin = trace.PositionAt(step.begin_ps);
  const Position end = trace.PositionAt(step.end_ps);
  const UsageExtremes extremes = replay.usage().Over(begin, end);
  const Usage at_peak = replay.usage().At(extremes.in_use_max_position);
  PeakMoment* peak = use->mutable_peak();
  peak->set_time_ns(host.ToNs(replay.TimePsOf(extremes.in_use_max_position)));
  peak->set_event(static_cast<int64_t>(extremes.in_use_max_position) -
                  static_cast<int64_t>(trace.baseline_rows) - 1);
  peak->set_in_use_bytes(at_peak.in_use_bytes);
  peak->set_requested_bytes(at_peak.requested_bytes);
  peak->set_reserved_bytes(at_peak.reserved_bytes);
  peak->set_step(step.number);
  peak->set_live_count(at_peak.live_count);
  use->set_begin_in_use_bytes(replay.usage().At(begin).in_use_bytes);
  use->set_end_in_use_bytes(replay.usage().At(end).in_use_bytes);
  uint64_t allocs = 0;
  uint64_t frees = 0;
  uint64_t survivor_bytes = 0;
  for (Row row = begin; row < end; ++row) {
    if (trace.kind_of[row] == RowKind::kFree) ++frees;
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    ++allocs;
    if (replay.IsLiveAt(row, end)) survivor_bytes += replay.BytesOf(row);
  }
  use->set_alloc_count(allocs);
  use->set_free_count(frees);
  use->set_survivor_bytes(survivor_bytes);
}

bool InRange(const HostTrace& host, const TrainingStep& step,
             const Filter& filter) {
  return (!filter.has_from_step() || step.number >= filter.from_step()) &&
         (!filter.has_to_step() || step.number <= filter.to_step()) &&
         (!filter.has_from_ns() ||
          host.ToNs(step.end_ps) >= filter.from_ns()) &&
         (!filter.has_to_ns() || host.ToNs(step.begin_ps) < filter.to_ns());
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerSteps(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  auto answer = std::make_unique<Steps>();
  const uint64_t limit =
      query.limit() == 0 ? kDefaultLimit : std::min(query.limit(), kMaxLimit);
  uint64_t index = 0;
  for (const SelectedAllocator& allocator : *selected) {
    const HostTrace& host = allocator.host->trace();
    for (const TrainingStep& step : host.steps) {
      if (!InRange(host, step, query.filter())) continue;
      if (index >= query.offset() && index < query.offset() + limit) {
        FillStepUse(allocator, step, answer->add_steps());
      }
      ++index;
    }
  }
  answer->set_total_count(index);
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
