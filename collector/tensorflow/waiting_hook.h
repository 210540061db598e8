// A pool that has no memory left waits for some, ten seconds as TensorFlow has
// it, before it refuses. One function tells when it begins to wait:
// AllocatorRetry::AllocateRaw, which the pool calls through the table of
// addresses by which its library finds exported functions.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_WAITING_HOOK_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_WAITING_HOOK_H_

#include <string>

#include "collector/library/hook_set.h"
#include "collector/tensorflow/request_recorder.h"

namespace oom_forensics::collector {

// Adds the function to `hooks`. Returns a sentence of what came of it. Without
// it nobody hears that a request waits, and all is learnt when it is refused.
std::string AddWaitingHook(const TensorFlowLibrary& library,
                           const RequestRecorder* requests, HookSet* hooks);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_WAITING_HOOK_H_
