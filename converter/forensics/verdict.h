// Why a request did not fit, in numbers and in words.
//
// The shortfall is what the best single place (the largest hole, or a new
// region) was short by. Three causes share it exactly:
//   CAPACITY        the part that all free memory together could not give
//   GROWTH_REGIONS  the part that only free memory of several regions could
//   FRAGMENTATION   the part that one region's free memory could, in one piece
// Others explain it from another side; their shares say how much of the
// shortfall they alone would have covered, and so overlap with the first three:
//   LEAK_LIKE, RETAINED, TRANSIENT_PEAK, LIMIT, EXTERNAL
// Where the pool may have grown by the request but the device was full,
// EXTERNAL stands in the place of CAPACITY.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_H_

#include "converter/forensics/oom_case.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

Verdict JudgeOom(const OomCase& oom);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_H_
