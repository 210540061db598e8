#include "converter/datasets/time_columns.h"

#include <algorithm>

namespace oom_forensics {
namespace {

constexpr uint32_t kDefaultColumns = 1000;
constexpr uint32_t kMaxColumns = 8192;

}  // namespace

uint32_t ColumnCount(const Query& query) {
  return query.columns() == 0 ? kDefaultColumns
                              : std::min(query.columns(), kMaxColumns);
}

std::vector<TimeColumn> MakeTimeColumns(const SelectedAllocator& allocator,
                                        const NsRange& range,
                                        uint32_t column_count) {
  // A range may span the whole of int64.
  const auto width = static_cast<__int128>(range.to_ns) - range.from_ns;
  const auto count = static_cast<uint32_t>(
      std::min<__int128>(column_count, std::max<__int128>(width, 0)));
  const AllocatorTrace& trace = allocator.replay->trace();
  const HostTrace& host = allocator.host->trace();
  std::vector<TimeColumn> columns;
  columns.reserve(count);
  Position begin = trace.PositionAt(host.ToPs(range.from_ns));
  for (uint32_t i = 0; i < count; ++i) {
    const auto from_ns =
        static_cast<int64_t>(range.from_ns + width * i / count);
    const auto to_ns =
        static_cast<int64_t>(range.from_ns + width * (i + 1) / count);
    const Position end = trace.PositionAt(host.ToPs(to_ns));
    columns.push_back({from_ns, begin, end});
    begin = end;
  }
  return columns;
}

}  // namespace oom_forensics
