// FailureLog: what was known of each refused request at its moment.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_FAILURE_LOG_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_FAILURE_LOG_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "collector/recording/recording.h"

namespace oom_forensics::collector {

class FailureLog {
 public:
  // A job that searches for its batch size fails many times: the numbers of the
  // last failures are kept, and the chunk maps of the first.
  static constexpr size_t kMaxFailures = 64;
  static constexpr size_t kMaxDumpBytes = size_t{64} << 20;

  void Add(Failure failure);
  // Those that happened at this sequence or later and are still kept.
  std::vector<Failure> Since(uint64_t sequence) const;

  // Held over fork(), so that the child finds the log whole.
  std::mutex& mutex() { return mutex_; }

 private:
  mutable std::mutex mutex_;
  // Guarded by it.
  std::vector<Failure> failures_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_FAILURE_LOG_H_
