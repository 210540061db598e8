// Where in the program a remedy has to be applied.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_REMEDY_SOURCE_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_REMEDY_SOURCE_H_

#include <vector>

#include "converter/forensics/oom_case/oom_case.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// The line that most bytes of these allocations are told by; kNoLine where it
// is not recorded.
LineId DominantLine(const AllocatorReplay& replay,
                    const std::vector<Row>& rows);

// Sets `line` and `keeper` of a remedy that concerns these allocations, as far
// as they are recorded.
void PointToSource(const OomCase& oom, const std::vector<Row>& rows,
                   Remedy* remedy);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_REMEDY_SOURCE_H_
