#include "converter/trace/host_trace.h"

#include <algorithm>
#include <limits>

namespace oom_forensics {

int64_t HostTrace::ToPs(int64_t time_ns) const {
  int64_t relative_ns = 0;
  int64_t relative_ps = 0;
  if (__builtin_sub_overflow(time_ns, origin_ns, &relative_ns) ||
      __builtin_mul_overflow(relative_ns, int64_t{1000}, &relative_ps)) {
    return time_ns < origin_ns ? std::numeric_limits<int64_t>::min()
                               : std::numeric_limits<int64_t>::max();
  }
  return relative_ps;
}

int64_t HostTrace::StepAt(int64_t time_ps) const {
  auto next = std::upper_bound(steps.begin(), steps.end(), time_ps,
                               [](int64_t time, const TrainingStep& step) {
                                 return time < step.begin_ps;
                               });
  if (next == steps.begin()) return kUnknownStep;
  const TrainingStep& step = *std::prev(next);
  return time_ps < step.end_ps ? step.number : kUnknownStep;
}

}  // namespace oom_forensics
