// Who holds the memory over time: the largest groups, stacked.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_CONTRIBUTORS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_CONTRIBUTORS_H_

#include <vector>

#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Adds the query's `top` contributors to the series: the groups (by scope where
// the query names none, or one that changes with age) that hold most where use
// is highest, and the rest as "(others)"; with their bytes at each of
// `positions`, one for each column of the series.
void AddContributors(const SelectedAllocator& allocator, const Query& query,
                     const std::vector<Position>& positions,
                     TimelineSeries* series);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_CONTRIBUTORS_H_
