// --fail-on: conditions of a run that make the exit code 3, for CI.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_FAIL_ON_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_FAIL_ON_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

//   oom         a request failed that its caller could not do without
//   probe       a request failed whose caller can handle it
//   leak        LEAKS has at least one
//   near-limit  an allocator's peak is at least 95 % of its limit
//   lost        something is wrong or missing in the trace
//               (a Quality of severity WARNING or ERROR)
inline constexpr double kNearLimit = 0.95;

// Fails where one of the conditions is none.
absl::Status CheckFailConditions(const std::vector<std::string>& conditions);

// The first of the conditions that holds for the hosts and allocators that the
// filter keeps; empty: none does.
absl::StatusOr<std::string> FirstMetCondition(
    const std::vector<std::string>& conditions, const Run& run,
    const Filter& filter);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_FAIL_ON_H_
