// The clock of all events: wall-clock time, as TensorFlow's own TraceMes use;
// and one for how long something took.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_CLOCK_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace oom_forensics::collector {

// Nanoseconds since the epoch. Order is told by sequence numbers, never by
// this: the wall clock may be set back.
inline int64_t WallClockNs() noexcept {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Since some moment, a few milliseconds late: five times cheaper than an exact
// clock, and never set back.
inline int64_t CoarseClockNs() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_CLOCK_H_
