// Writes a snapshot whenever the process gets a signal that the user has
// chosen.
#ifndef OOM_FORENSICS_COLLECTOR_SNAPSHOT_SIGNAL_H_
#define OOM_FORENSICS_COLLECTOR_SNAPSHOT_SIGNAL_H_

#include <functional>
#include <string>

namespace oom_forensics::collector {

// From now on calls `take` after each `signal` ("SIGUSR2"), in a thread of its
// own: a signal handler itself may do next to nothing. False if the signal is
// taken by someone else or the thread cannot be started.
bool ListenForSnapshotSignal(const std::string& signal,
                             std::function<void()> take);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_SNAPSHOT_SIGNAL_H_
