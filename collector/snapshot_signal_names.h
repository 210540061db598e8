// The signals that a snapshot may be asked for with.
#ifndef OOM_FORENSICS_COLLECTOR_SNAPSHOT_SIGNAL_NAMES_H_
#define OOM_FORENSICS_COLLECTOR_SNAPSHOT_SIGNAL_NAMES_H_

#include <csignal>
#include <string_view>

namespace oom_forensics::collector {

// 0 for any other than the two that are free for the user's own ends.
inline int SignalNumber(std::string_view name) {
  if (name == "SIGUSR1") return SIGUSR1;
  if (name == "SIGUSR2") return SIGUSR2;
  return 0;
}

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_SNAPSHOT_SIGNAL_NAMES_H_
