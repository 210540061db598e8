// Why a request did not fit, in numbers and in words: what the allocator's own
// numbers tell (core/placement.h), and what lies behind it. A deeper cause
// explains the same shortfall from another side: its share says how much of it
// that cause alone would have covered, and so overlaps with the others.
//   LEAK_LIKE       live bytes that grow step by step
//   TRANSIENT_PEAK  live bytes that were always gone moments later
//   RETAINED        live bytes that something keeps
//   CAPACITY        the whole step needs more than there is
// Where such a cause comes first, the evidence "placement" is what it came to.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_VERDICT_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_VERDICT_H_

#include "converter/forensics/causes/cause.h"
#include "converter/forensics/oom_case/oom_case.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

Verdict JudgeOom(const OomCase& oom, const std::vector<Cause>& causes);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_VERDICT_VERDICT_H_
