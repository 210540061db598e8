#include "converter/run/run.h"

#include <utility>

namespace oom_forensics {

absl::StatusOr<std::unique_ptr<Run>> Run::Open(const TraceFiles& files,
                                               const RunOptions& options) {
  std::vector<std::unique_ptr<HostAnalysis>> hosts;
  hosts.reserve(files.paths.size());
  for (size_t i = 0; i < files.paths.size(); ++i) {
    ReadOptions read = options.read;
    if (options.progress) {
      read.progress = [&options, i, n = files.paths.size()](double part) {
        options.progress((static_cast<double>(i) + part) /
                         static_cast<double>(n));
      };
    }
    auto trace = ReadTrace(files.paths[i], read);
    if (!trace.ok()) return trace.status();
    hosts.push_back(std::make_unique<HostAnalysis>(*std::move(trace)));
  }
  auto run = std::make_unique<Run>(std::move(hosts));
  run->name_ = files.run_name;
  return run;
}

}  // namespace oom_forensics
