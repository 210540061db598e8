// The verdict that the sums alone allow: did all free memory together not
// suffice, or was it in pieces.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_BASIC_VERDICT_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_BASIC_VERDICT_H_

#include "proto/datasets.pb.h"

namespace oom_forensics {

// From the request and the byte counts of `oom`, which must be set.
Verdict BasicVerdict(const Oom& oom);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_BASIC_VERDICT_H_
