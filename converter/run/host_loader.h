// Reads the hosts of a run for the first time, several at a time.
#ifndef OOM_FORENSICS_CONVERTER_RUN_HOST_LOADER_H_
#define OOM_FORENSICS_CONVERTER_RUN_HOST_LOADER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/run/host_store.h"
#include "converter/run/host_summary.h"

namespace oom_forensics {

// The summaries of all hosts in the store's order, whatever order they were
// done in; the hosts themselves stay in the store while there is room. After a
// file that cannot be read no other is begun. `threads`: at least 1; `progress`
// is called with the part that is done, 0..1, by one thread at a time, and may
// be null.
absl::StatusOr<std::vector<HostSummary>> SummarizeHosts(
    HostStore* store, uint32_t threads,
    const std::function<void(double)>& progress);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_HOST_LOADER_H_
