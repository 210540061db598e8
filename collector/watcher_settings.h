// What the user may choose of the DeviceMemoryWatcher.
#ifndef OOM_FORENSICS_COLLECTOR_WATCHER_SETTINGS_H_
#define OOM_FORENSICS_COLLECTOR_WATCHER_SETTINGS_H_

namespace oom_forensics::cupti {

// OOM_FORENSICS_CUPTI=auto|own|samples|off
enum class WatchSetting {
  kAuto,     // the tee in TensorFlow's GPU traces, samples otherwise
  kOwn,      // own CUPTI outside of these traces too
  kSamples,  // CUPTI is left alone
  kOff,
};

struct WatcherSettings {
  WatchSetting watch = WatchSetting::kAuto;
  // OOM_FORENSICS_CUPTI_SOURCE=1: have CUPTI note the library that asked for
  // each block. From CUDA 12.6 on; CUPTI then walks the stack of every driver
  // allocation.
  bool allocation_source = false;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_WATCHER_SETTINGS_H_
