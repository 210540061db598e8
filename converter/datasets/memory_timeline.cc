#include "converter/datasets/memory_timeline.h"

#include <memory>
#include <utility>
#include <vector>

#include "converter/cancellation/cancellation.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/cached_timelines.h"
#include "converter/datasets/contributors.h"
#include "converter/datasets/time_columns.h"

namespace oom_forensics {
namespace {

void FillColumns(const UsageTimeline& usage,
                 const std::vector<TimeColumn>& columns,
                 std::vector<Position>* highest, TimelineSeries* series) {
  for (const TimeColumn& column : columns) {
    const UsageExtremes extremes = usage.Over(column.begin, column.end);
    highest->push_back(extremes.in_use_max_position);
    TimelineColumn* message = series->add_columns();
    message->set_time_ns(column.from_ns);
    message->set_in_use_min_bytes(extremes.in_use_min_bytes);
    message->set_in_use_max_bytes(extremes.in_use_max_bytes);
    message->set_requested_max_bytes(extremes.requested_max_bytes);
    message->set_reserved_max_bytes(extremes.reserved_max_bytes);
    message->set_live_max_count(extremes.live_max_count);
    message->set_events(column.end - column.begin);
  }
}

// The events of the range, where they are no more than columns were asked.
void FillEvents(const SelectedAllocator& allocator, const RowPredicate& keeps,
                Position begin, Position end, uint32_t limit,
                TimelineSeries* series) {
  if (end - begin > limit) return;
  const AllocatorReplay& replay = *allocator.replay;
  for (Row row = begin; row < end; ++row) {
    StopIfCancelled(row);
    const RowKind kind = replay.trace().kind_of[row];
    const Row alloc = kind == RowKind::kFree ? replay.PartnerOf(row) : row;
    const bool is_of_allocation =
        kind == RowKind::kAlloc || kind == RowKind::kFree;
    if (is_of_allocation && !keeps.keeps_all() &&
        (alloc == kNoRow || !keeps(alloc))) {
      continue;
    }
    *series->add_events() = MakeTimelineEvent(allocator, row);
  }
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerMemoryTimeline(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  const NsRange range = SelectedRange(*selected, query.filter());
  const uint32_t column_count = ColumnCount(query);
  auto timeline = std::make_unique<MemoryTimeline>();
  timeline->set_from_ns(range.from_ns);
  timeline->set_to_ns(range.to_ns);
  for (const SelectedAllocator& allocator : *selected) {
    const AllocatorReplay& replay = *allocator.replay;
    TimelineSeries* series = timeline->add_series();
    series->set_host(allocator.host->trace().host);
    series->set_allocator(replay.trace().name);
    series->set_limit_bytes(replay.trace().limit_bytes);
    const RowPredicate keeps(allocator, query.filter(), BirthRule::kIgnored);
    std::shared_ptr<const UsageTimeline> filtered;
    if (!keeps.keeps_all()) filtered = FilteredUsage(allocator, query.filter());
    const UsageTimeline& usage = keeps.keeps_all() ? replay.usage() : *filtered;
    series->set_filtered(!keeps.keeps_all());
    const std::vector<TimeColumn> columns =
        MakeTimeColumns(allocator, range, column_count);
    if (columns.empty()) continue;
    const Position begin = columns.front().begin;
    const Position end = columns.back().end;
    std::vector<Position> highest;
    FillColumns(usage, columns, &highest, series);
    *series->mutable_peak() = MakePeakMoment(
        allocator, usage, usage.Over(begin, end).in_use_max_position);
    AddContributors(allocator, query, highest, series);
    AddMarks(input.run, allocator, range, column_count, series);
    FillEvents(allocator, keeps, begin, end, column_count, series);
    series->set_event_count(end - begin);
  }
  AddQuality(input, *selected, timeline->mutable_quality());
  return DatasetMessage(std::move(timeline));
}

}  // namespace oom_forensics
