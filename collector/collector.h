// Collector: the whole of it in one process, joined. Made once, when TensorFlow
// loads the plugin, and never destroyed: threads may be in a hook until the
// process is gone.
#ifndef OOM_FORENSICS_COLLECTOR_COLLECTOR_H_
#define OOM_FORENSICS_COLLECTOR_COLLECTOR_H_

#include <cstdint>
#include <string>

#include "collector/bfc_hooks.h"
#include "collector/cupti/device_memory_watcher.h"
#include "collector/device_probe.h"
#include "collector/recorder.h"
#include "collector/settings.h"

namespace oom_forensics::collector {

class Collector {
 public:
  // Reads the settings and, unless switched off, hooks what is recognised of
  // TensorFlow; further calls return the same. Says in one line on stderr what
  // it cannot do.
  static Collector& Load();

  // The one that Load() made; null before.
  static Collector* Get();

  // A profiler session. StopSession() returns the serialised XSpace, empty
  // without a session.
  void StartSession();
  std::string StopSession();

  // What was seen of the CUDA devices in the session that has just ended, as a
  // serialised XSpace to append to its trace. Call it when TensorFlow's own
  // tracers have ended too.
  std::string TakeDevicePlanes();

  // What is hooked and what not, and why, as a JSON object.
  std::string StatusJson() const;

 private:
  explicit Collector(const Settings& settings);

  void Hook();
  static void ProbeDevices(ProbeMoment moment) noexcept;

  const Settings settings_;
  Recorder recorder_;
  HookReport hooks_;
  std::string tensorflow_version_;
  cupti::DeviceMemoryWatcher device_memory_;
  int64_t session_start_ns_ = 0;
  // Of each allocator, when the session began.
  std::vector<std::string> baseline_dumps_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_COLLECTOR_H_
