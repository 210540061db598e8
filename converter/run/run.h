// A run: the traces of its hosts, opened for questions.
#ifndef OOM_FORENSICS_CONVERTER_RUN_RUN_H_
#define OOM_FORENSICS_CONVERTER_RUN_RUN_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "converter/input/trace_files.h"
#include "converter/reader/trace_reader.h"
#include "converter/run/host_analysis.h"

namespace oom_forensics {

struct RunOptions {
  ReadOptions read;
  // Called with the part of the work that is done, 0..1; may be null.
  std::function<void(double)> progress;
};

class Run {
 public:
  // Reads and replays all of `files`. Fails if any of them cannot be read.
  static absl::StatusOr<std::unique_ptr<Run>> Open(const TraceFiles& files,
                                                   const RunOptions& options);

  // Of traces that are in memory already, for tests.
  explicit Run(std::vector<std::unique_ptr<HostAnalysis>> hosts)
      : hosts_(std::move(hosts)) {}

  const std::string& name() const { return name_; }
  const std::vector<std::unique_ptr<HostAnalysis>>& hosts() const {
    return hosts_;
  }

 private:
  std::string name_;
  std::vector<std::unique_ptr<HostAnalysis>> hosts_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_RUN_H_
