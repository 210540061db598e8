// Settings: what the user may choose, from the environment
// (OOM_FORENSICS_<NAME>, in capitals). A wrong value is reported once and
// replaced by the default; it never stops an import.
#ifndef OOM_FORENSICS_COLLECTOR_SETTINGS_H_
#define OOM_FORENSICS_COLLECTOR_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/cupti/watcher_settings.h"

namespace oom_forensics::collector {

struct Settings {
  // OOM_FORENSICS=0: nothing of TensorFlow is touched.
  bool enabled = true;
  // Events that the always-on recorder keeps.
  uint64_t allocation_log_buffer_size = 100'000;
  // Events that one profiler session keeps; what comes after is counted. 48
  // bytes each in memory, about 30 in the trace.
  uint64_t capture_events = 8'000'000;
  // Device memory beside TensorFlow's allocators.
  cupti::WatcherSettings device_memory;
};

// Reads the environment. Appends one sentence to `warnings` for each value that
// is not understood.
Settings SettingsFromEnvironment(std::vector<std::string>* warnings);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_SETTINGS_H_
