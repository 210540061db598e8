// Why a request did not fit, in numbers and in words.
//
// The shortfall is what the best single place (the largest hole, or a new
// region) was short by. Three causes share it exactly:
//   CAPACITY        the part that all free memory together could not give
//   GROWTH_REGIONS  the part that only free memory of several regions could
//   FRAGMENTATION   the part that one region's free memory could, in one piece
// Others explain it from another side; their shares say how much of the
// shortfall they alone would have covered, and so overlap with the first three:
//   LEAK_LIKE, TRANSIENT_PEAK, LIMIT, EXTERNAL
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_H_

#include <optional>

#include "converter/forensics/device_pressure.h"
#include "converter/forensics/oom_case.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// `device`: how full the device was, where the trace tells.
Verdict JudgeOom(const OomCase& oom,
                 const std::optional<DevicePressure>& device = std::nullopt);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_H_
