// One host's trace, replayed: what every dataset is computed from.
#ifndef OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_
#define OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "converter/forensics/roles.h"
#include "converter/replay/allocator_replay.h"
#include "converter/replay/hole_timeline.h"
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
  // The holes of one of allocators() over time, for a request. Made when first
  // asked for; the last one of each allocator is kept.
  std::shared_ptr<const HoleTimeline> Holes(const AllocatorReplay& replay,
                                            uint64_t request_bytes) const;
  // The roles of one of allocators()' allocations. Made when first asked for.
  const RoleClassifier& Roles(const AllocatorReplay& replay) const;
  uint64_t ResidentBytes() const;

 private:
  std::unique_ptr<const HostTrace> trace_;
  std::vector<std::unique_ptr<AllocatorReplay>> allocators_;
  mutable absl::Mutex mutex_;
  mutable absl::flat_hash_map<const AllocatorReplay*,
                              std::shared_ptr<const HoleTimeline>>
      holes_ ABSL_GUARDED_BY(mutex_);
  mutable absl::flat_hash_map<const AllocatorReplay*,
                              std::unique_ptr<const RoleClassifier>>
      roles_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_
