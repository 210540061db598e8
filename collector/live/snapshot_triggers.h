// SnapshotTriggers: when a snapshot is taken before anything has failed, so
// that the moment before is kept of a job that dies later. Looked at as each
// training step begins; every kind fires a bounded number of times.
#ifndef OOM_FORENSICS_COLLECTOR_LIVE_SNAPSHOT_TRIGGERS_H_
#define OOM_FORENSICS_COLLECTOR_LIVE_SNAPSHOT_TRIGGERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "collector/settings.h"
#include "collector/tensorflow/allocator_state.h"

namespace oom_forensics::collector {

class SnapshotTriggers {
 public:
  // Snapshots of each kind in one process.
  static constexpr int kMaxOfKind = 3;

  // Why a snapshot is due as a step begins, as a sentence; empty: none is.
  std::string DueAt(const TriggerSettings& settings,
                    const std::vector<AllocatorState>& states);

 private:
  struct Seen {
    uint64_t peak_bytes = 0;
    // In use as the last step began, and in how many steps in a row it grew.
    uint64_t begin_bytes = 0;
    uint64_t grown_steps = 0;
    // Within the limit's share since it was last seen.
    bool is_near_limit = false;
  };

  std::map<std::string, Seen> seen_;
  int near_limit_count_ = 0;
  int new_peak_count_ = 0;
  int growth_count_ = 0;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_LIVE_SNAPSHOT_TRIGGERS_H_
