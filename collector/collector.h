// Collector: the whole of it in one process, joined. Made once, when TensorFlow
// loads the plugin, and never destroyed: threads may be in a hook until the
// process is gone.
#ifndef OOM_FORENSICS_COLLECTOR_COLLECTOR_H_
#define OOM_FORENSICS_COLLECTOR_COLLECTOR_H_

#include <string>

#include "collector/bfc_hooks.h"
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

  // What is hooked and what not, and why, as a JSON object.
  std::string StatusJson() const;

 private:
  explicit Collector(const Settings& settings);

  void Hook();

  const Settings settings_;
  Recorder recorder_;
  HookReport hooks_;
  std::string tensorflow_version_;
  // Of each allocator, when the session began.
  std::vector<std::string> baseline_dumps_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_COLLECTOR_H_
