// The steps of a loop that nobody marked: an op that comes back at even
// distances divides the allocations into periods.
//
// A training loop does the same in every round, so the allocations of most ops
// come back after the same number of others. Of all ops that do, the one that
// comes back most rarely is taken: one that is in each of many equal layers
// comes back within the round, too.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_OP_PERIOD_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_OP_PERIOD_H_

#include <vector>

#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

// Positions at which a period begins, in order, up to `until`; the last one has
// not ended. Empty: nothing comes back evenly.
std::vector<Position> FindPeriods(const AllocatorReplay& replay,
                                  Position until);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_OP_PERIOD_H_
