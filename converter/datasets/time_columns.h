// A range of time cut into columns of equal width.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_TIME_COLUMNS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_TIME_COLUMNS_H_

#include <cstdint>
#include <vector>

#include "converter/datasets/selection.h"

namespace oom_forensics {

// One column: the states of positions begin to end (both included) hold in it.
struct TimeColumn {
  int64_t from_ns = 0;
  Position begin = 0;
  Position end = 0;
};

// `columns` of the query, made 1000 where it is 0 and 8192 where it is more.
uint32_t ColumnCount(const Query& query);

// The columns of an allocator. Where the range is shorter than that many
// nanoseconds there is one column for each.
std::vector<TimeColumn> MakeTimeColumns(const SelectedAllocator& allocator,
                                        const NsRange& range,
                                        uint32_t column_count);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_TIME_COLUMNS_H_
