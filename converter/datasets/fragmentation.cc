#include "converter/datasets/fragmentation.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "converter/datasets/address_map.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/cached_timelines.h"
#include "converter/datasets/time_columns.h"

namespace oom_forensics {
namespace {

void FillSeries(const SelectedAllocator& allocator, const NsRange& range,
                const Query& query, FragmentationSeries* series) {
  const AllocatorReplay& replay = *allocator.replay;
  series->set_host(allocator.host->trace().host);
  series->set_allocator(replay.trace().name);
  if (!replay.trace().has_layout) return;
  const std::vector<TimeColumn> columns =
      MakeTimeColumns(allocator, range, ColumnCount(query));
  if (columns.empty()) return;
  const uint64_t request =
      RequestForMeasures(replay, columns.back().end, query.request_bytes());
  const auto holes = HolesOverTime(allocator, request);
  for (const TimeColumn& column : columns) {
    const Position worst = holes->WorstOver(column.begin, column.end);
    FragmentationColumn* message = series->add_columns();
    message->set_time_ns(column.from_ns);
    *message->mutable_worst() =
        MakeMeasures(replay, worst, holes->At(worst), request);
  }
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerFragmentation(const DatasetInput& input) {
  const Query& query = input.query;
  const auto selected = SelectAllocators(input.run, query.filter());
  if (!selected.ok()) return selected.status();
  const NsRange range = SelectedRange(*selected, query.filter());
  auto answer = std::make_unique<Fragmentation>();
  for (const SelectedAllocator& allocator : *selected) {
    FillSeries(allocator, range, query, answer->add_series());
    const auto position = ResolveMoment(input.run, allocator, query);
    if (!position.ok()) return position.status();
    FillAddressMap(allocator, *position, query, answer->add_maps());
  }
  AddQuality(input, *selected, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
