#include "collector/recording/failure_log.h"

#include <utility>

namespace oom_forensics::collector {

void FailureLog::Add(Failure failure) {
  std::lock_guard<std::mutex> lock(mutex_);
  size_t dump_bytes = failure.memory_dump.size();
  for (const Failure& known : failures_) dump_bytes += known.memory_dump.size();
  if (dump_bytes > kMaxDumpBytes) failure.memory_dump.clear();
  if (failures_.size() == kMaxFailures) failures_.erase(failures_.begin());
  failures_.push_back(std::move(failure));
}

std::vector<Failure> FailureLog::Since(uint64_t sequence) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Failure> failures;
  for (const Failure& failure : failures_) {
    if (failure.sequence >= sequence) failures.push_back(failure);
  }
  return failures;
}

}  // namespace oom_forensics::collector
