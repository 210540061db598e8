// One host's trace, replayed: what every dataset is computed from.
#ifndef OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_
#define OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "converter/forensics/roles.h"
#include "converter/replay/allocator_replay.h"
#include "converter/replay/replayed_host.h"
#include "converter/run/answer_cache.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

class HostAnalysis {
 public:
  // Replays every allocator of the trace.
  explicit HostAnalysis(std::unique_ptr<const HostTrace> trace);
  explicit HostAnalysis(ReplayedHost host) : host_(std::move(host)) {}
  HostAnalysis(const HostAnalysis&) = delete;
  HostAnalysis& operator=(const HostAnalysis&) = delete;

  const HostTrace& trace() const { return *host_.trace; }
  const ReplayedHost& replayed() const { return host_; }
  // In the order of trace().allocators.
  const std::vector<std::unique_ptr<AllocatorReplay>>& allocators() const {
    return host_.allocators;
  }
  // The roles of one of allocators()' allocations. Made when first asked for.
  const RoleClassifier& Roles(const AllocatorReplay& replay) const;
  // Derived from allocators() and kept for the next question.
  AnswerCache& cache() const { return cache_; }
  // The stories of its OOMs: dear to tell, small to keep.
  AnswerCache& oom_cache() const { return oom_cache_; }
  // Drops what is only kept for the next question.
  void DropAnswers() const;
  // The trace, its replays and the answers that are kept.
  uint64_t ResidentBytes() const;

 private:
  ReplayedHost host_;
  mutable absl::Mutex mutex_;
  mutable absl::flat_hash_map<const AllocatorReplay*,
                              std::unique_ptr<const RoleClassifier>>
      roles_ ABSL_GUARDED_BY(mutex_);
  // How many views of one tab are in use at a time.
  static constexpr size_t kMaxCached = 12;
  mutable AnswerCache cache_{kMaxCached};
  static constexpr size_t kMaxCachedOoms = 256;
  mutable AnswerCache oom_cache_{kMaxCachedOoms};
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_HOST_ANALYSIS_H_
