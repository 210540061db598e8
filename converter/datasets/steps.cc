#include "converter/datasets/steps.h"

#include <limits>
#include <memory>
#include <utility>

#include "converter/cancellation/cancellation.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/page.h"

namespace oom_forensics {
namespace {

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
  *use->mutable_peak() =
      MakePeakMoment(allocator, replay.usage(), extremes.in_use_max_position);
  use->mutable_peak()->set_step(step.number);
  use->set_begin_in_use_bytes(replay.usage().At(begin).in_use_bytes);
  use->set_end_in_use_bytes(replay.usage().At(end).in_use_bytes);
  uint64_t allocs = 0;
  uint64_t frees = 0;
  uint64_t survivor_bytes = 0;
  for (Row row = begin; row < end; ++row) {
    StopIfCancelled(row);
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
  const Page page = PageOf(query, std::numeric_limits<size_t>::max());
  size_t index = 0;
  for (const SelectedAllocator& allocator : *selected) {
    const HostTrace& host = allocator.host->trace();
    for (const TrainingStep& step : host.steps) {
      if (!InRange(host, step, query.filter())) continue;
      if (index >= page.begin && index < page.end) {
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
