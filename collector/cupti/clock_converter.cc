#include "collector/cupti/clock_converter.h"

#include <algorithm>
#include <ctime>

namespace oom_forensics::cupti {

bool ClockConverter::AddPair(const Clock& collector, const Clock& cupti,
                             int attempts) {
  ClockPair best;
  bool found = false;
  for (int i = 0; i < attempts; ++i) {
    int64_t before = 0;
    int64_t between = 0;
    int64_t after = 0;
    if (!collector(&before) || !cupti(&between) || !collector(&after)) {
      return false;
    }
    // A collector clock that was set back between the readings says nothing.
    if (after < before) continue;
    const int64_t error = (after - before + 1) / 2;
    if (found && error >= best.error_ns) continue;
    best = {between, before + (after - before) / 2 - between, error};
    found = true;
  }
  if (!found) return false;
  if (pairs_ == 0) first_ = best;
  last_ = best;
  pairs_ = std::min(pairs_ + 1, 2);
  return true;
}

int64_t ClockConverter::ToCollector(int64_t cupti_ns) const {
  if (pairs_ == 0) return cupti_ns;
  if (cupti_ns <= first_.cupti_ns || last_.cupti_ns <= first_.cupti_ns) {
    return cupti_ns + first_.offset_ns;
  }
  if (cupti_ns >= last_.cupti_ns) return cupti_ns + last_.offset_ns;
  const double part = static_cast<double>(cupti_ns - first_.cupti_ns) /
                      static_cast<double>(last_.cupti_ns - first_.cupti_ns);
  const double drift =
      static_cast<double>(last_.offset_ns - first_.offset_ns) * part;
  return cupti_ns + first_.offset_ns + static_cast<int64_t>(drift);
}

int64_t ClockConverter::error_ns() const {
  return pairs_ == 0 ? 0 : std::max(first_.error_ns, last_.error_ns);
}

bool ReadCollectorClock(int64_t* now_ns) {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  *now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  return true;
}

}  // namespace oom_forensics::cupti
