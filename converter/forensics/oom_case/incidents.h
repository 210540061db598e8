// Requests that were refused together: one incident.
//
// TensorFlow waits up to 10 s before it refuses a request; other threads ask
// and wait meanwhile, and when the first one gives up the others follow. To the
// user that is one out-of-memory. A program that catches the error and tries
// something else makes a new one.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_INCIDENTS_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_INCIDENTS_H_

#include <vector>

#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

// The kFailed rows of an allocator's OOMs, in order, by incident.
std::vector<std::vector<Row>> FindIncidents(const AllocatorReplay& replay);

// The last refusal of the incident before the one of this refusal; kNoRow:
// it is the first.
Row EndOfEarlierIncident(const AllocatorReplay& replay, Row failure);

// Later refusals of what had to find a place beside this refused request: it
// waited at the same time, or is of the same run of a function. What the
// program asks for after the error, another step say, is not.
std::vector<Row> RefusedTogether(const AllocatorReplay& replay, Row failure);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_INCIDENTS_H_
