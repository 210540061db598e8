#include "converter/datasets/host_memory.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "converter/datasets/time_columns.h"
#include "converter/forensics/host_memory/host_parts.h"
#include "converter/forensics/host_memory/host_story.h"

namespace oom_forensics {
namespace {

// The samples that columns show: the last one of each column.
void AddColumns(const HostMemoryTrace& memory, const Query& query,
                HostMemorySeries* series) {
  for (const std::string_view part : HostPartNames()) {
    series->add_parts(std::string(part));
  }
  const std::vector<int64_t>& times = HostTimes(memory);
  const Filter& filter = query.filter();
  const size_t begin = static_cast<size_t>(
      filter.has_from_ns()
          ? std::lower_bound(times.begin(), times.end(), filter.from_ns()) -
                times.begin()
          : 0);
  const size_t end = static_cast<size_t>(
      filter.has_to_ns()
          ? std::lower_bound(times.begin(), times.end(), filter.to_ns()) -
                times.begin()
          : static_cast<int64_t>(times.size()));
  if (begin >= end) return;
  const int64_t from_ns = times[begin];
  const int64_t width_ns =
      std::max<int64_t>(1, (times[end - 1] - from_ns) / ColumnCount(query));
  const std::vector<HostParts> samples = PartsOverTime(memory);
  for (size_t i = begin; i < end; ++i) {
    const bool is_last = i + 1 == end || (times[i + 1] - from_ns) / width_ns !=
                                             (times[i] - from_ns) / width_ns;
    if (!is_last) continue;
    const HostParts& parts = samples[i];
    HostMemoryColumn* const column = series->add_columns();
    column->set_time_ns(times[i]);
    column->set_used_bytes(parts.used_bytes);
    column->set_resident_bytes(parts.resident_bytes);
    for (const uint64_t bytes : parts.bytes) column->add_part_bytes(bytes);
  }
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerHostMemory(const DatasetInput& input) {
  auto answer = std::make_unique<HostMemory>();
  const Filter& filter = input.query.filter();
  for (size_t i = 0; i < input.run.hosts().size(); ++i) {
    const HostSummary& summary = input.run.hosts()[i];
    if (!filter.host().empty() && summary.host != filter.host()) continue;
    if (!summary.has_host_memory) continue;
    const SharedHost host = input.run.Load(i);
    HostMemorySeries* const series = answer->add_series();
    series->set_host(summary.host);
    AddColumns(host->trace().host_memory, input.query, series);
    const AllocatorReplay* blocks = nullptr;
    for (const auto& replay : host->allocators()) {
      if (HasHostBlocks(replay->trace())) blocks = replay.get();
    }
    TellHostStory(host->trace(), blocks, series);
    for (const Quality& entry : summary.quality) *answer->add_quality() = entry;
  }
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
