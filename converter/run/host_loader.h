// Reads and replays the hosts of a run, several at a time.
#ifndef OOM_FORENSICS_CONVERTER_RUN_HOST_LOADER_H_
#define OOM_FORENSICS_CONVERTER_RUN_HOST_LOADER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/run/host_analysis.h"
#include "converter/run/run.h"

namespace oom_forensics {

// The hosts in the order of `paths`, whatever order they were done in. After a
// file that cannot be read no other is begun.
absl::StatusOr<std::vector<std::unique_ptr<HostAnalysis>>> LoadHosts(
    const std::vector<std::string>& paths, const RunOptions& options);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_HOST_LOADER_H_
