// Whether steps leave more in use than they found, whoever holds it: of such a
// program no later step meets the room that this one would have had.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_USAGE_GROWTH_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_USAGE_GROWTH_H_

#include <cstdint>

#include "converter/forensics/oom_case/oom_case.h"

namespace oom_forensics {

// Bytes by which the memory in use grew from the end of one step to the next,
// over the later half of the steps before the failure, where that is certain
// and comes to something; 0: it did not grow, or there were too few steps.
uint64_t UsageGrowthPerStep(const OomCase& oom);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_USAGE_GROWTH_H_
