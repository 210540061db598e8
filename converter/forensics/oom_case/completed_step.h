// A step that came to its end and did what the failed one was to do: it tells
// what the failed step would have asked for.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_COMPLETED_STEP_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_COMPLETED_STEP_H_

#include <optional>

#include "converter/forensics/step_index.h"
#include "converter/forensics/what_if.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

// The last of the steps, which all ended before the failure, that served the
// very request that failed (op, shape and bytes) after requests like those that
// the failed step had made before it. Nothing: the failed step is of another
// kind or size than those before, or the first.
std::optional<CompletedStep> FindCompletedStep(const AllocatorReplay& replay,
                                               const StepIndex& steps,
                                               Row failure);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_COMPLETED_STEP_H_
