// One host's trace, replayed: what every dataset is computed from.
#ifndef OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_
#define OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_

#include <memory>
#include <vector>

#include "converter/replay/allocator_replay.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

class HostAnalysis {
 public:
  // Replays every allocator of the trace.
  explicit HostAnalysis(std::unique_ptr<const HostTrace> trace);
  HostAnalysis(const HostAnalysis&) = delete;
  HostAnalysis& operator=(const HostAnalysis&) = delete;

  const HostTrace& trace() const { return *trace_; }
  // In the order of trace().allocators.
  const std::vector<std::unique_ptr<AllocatorReplay>>& allocators() const {
    return allocators_;
  }
  uint64_t ResidentBytes() const;

 private:
  std::unique_ptr<const HostTrace> trace_;
  std::vector<std::unique_ptr<AllocatorReplay>> allocators_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_
