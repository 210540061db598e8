// A run: the traces of its hosts, opened for questions.
#ifndef OOM_FORENSICS_CONVERTER_RUN_RUN_H_
#define OOM_FORENSICS_CONVERTER_RUN_RUN_H_

#include <cstdint>
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
  // Its max_resident_bytes is for all hosts together; its progress is not used.
  ReadOptions read;
  // Called with the part of the work that is done, 0..1, by one thread at a
  // time; may be null.
  std::function<void(double)> progress;
  // Hosts that are read at the same time; 0: one for each processor.
  uint32_t threads = 0;
};

class Run {
 public:
  // Reads and replays all of `files`, several at a time. Fails if any of them
  // cannot be read, with what is wrong with the first such file.
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
