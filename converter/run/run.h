// A run: the traces of its hosts, opened for questions. However many hosts
// there are and however large they are together, only as many of them are in
// memory at a time as the limit allows; of all others a summary is.
#ifndef OOM_FORENSICS_CONVERTER_RUN_RUN_H_
#define OOM_FORENSICS_CONVERTER_RUN_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "converter/input/trace_files.h"
#include "converter/reader/trace_reader.h"
#include "converter/run/host_store.h"
#include "converter/run/host_summary.h"

namespace oom_forensics {

struct RunOptions {
  // Its max_resident_bytes is for all hosts together; its progress and threads
  // are not used.
  ReadOptions read;
  // Called with the part of the work that is done, 0..1, by one thread at a
  // time; may be null.
  std::function<void(double)> progress;
  // Threads that read, several hosts or one of them; 0: one for each processor.
  uint32_t threads = 0;
};

class Run {
 public:
  // Reads and replays all of `files`, several at a time. Fails if any of them
  // cannot be read, with what is wrong with the first such file.
  static absl::StatusOr<std::unique_ptr<Run>> Open(const TraceFiles& files,
                                                   const RunOptions& options);

  // A run of traces that are in memory already, for tests.
  explicit Run(std::vector<std::unique_ptr<HostAnalysis>> hosts);

  const std::string& name() const { return name_; }
  const std::vector<HostSummary>& hosts() const { return hosts_; }

  // The host of that number, in memory as long as the pointer is kept. Where it
  // was dropped for the limit and cannot be read again, it has the allocators
  // that it had, without events, and TakeLoadFailure() says why. By one thread.
  SharedHost Load(size_t host) const;

  // The bytes of all hosts that are in memory.
  uint64_t ResidentBytes() const { return store_->ResidentBytes(); }

  // Why a host that was asked for since the last call could not be read again:
  // what was made of it is no answer. OK: all could.
  absl::Status TakeLoadFailure() const {
    return std::exchange(load_failure_, absl::OkStatus());
  }

 private:
  Run() = default;

  std::string name_;
  std::unique_ptr<HostStore> store_;
  std::vector<HostSummary> hosts_;
  mutable absl::Status load_failure_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_RUN_H_
