#include "converter/run/run.h"

#include <utility>

#include "converter/run/host_loader.h"

namespace oom_forensics {

absl::StatusOr<std::unique_ptr<Run>> Run::Open(const TraceFiles& files,
                                               const RunOptions& options) {
  auto hosts = LoadHosts(files.paths, options);
  if (!hosts.ok()) return hosts.status();
  auto run = std::make_unique<Run>(*std::move(hosts));
  run->name_ = files.run_name;
  return run;
}

}  // namespace oom_forensics
