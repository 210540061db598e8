// What to change, with the bytes that it gives back, tried on the real layout.
//
// Each remedy has evidence in the trace (or it is not named) and is replayed
// through a model of TensorFlow's allocator from an earlier moment on. What
// other threads were refused at the same moment must find a place, too; and
// where the request failed in the forward pass of a training step, an estimate
// of its gradients (remedy_candidate.cc): a remedy that only moves the failure
// into the backward pass is none. What the step needs beyond that, the trace of
// a step that never ended cannot tell.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_REMEDIES_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_REMEDIES_H_

#include <vector>

#include "converter/forensics/causes/cause.h"
#include "converter/forensics/oom_case/oom_case.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Those that are enough alone first, then those that are enough together.
std::vector<Remedy> FindRemedies(const OomCase& oom, std::vector<Cause> causes,
                                 const Verdict& verdict);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_REMEDIES_H_
