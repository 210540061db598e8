// DeviceMemoryWatcher: the collector's eye on device memory, beside what
// TensorFlow's allocators do. It chooses how to watch:
//
//   tee      TensorFlow's GPU tracer traces this session: its buffers bring
//            CUPTI's memory records too (CuptiTee)
//   own      CUPTI's memory records for us alone, between TensorFlow's sessions
//            (OwnCupti); only where OOM_FORENSICS_CUPTI=own asks for it, and
//            never where TensorFlow could trace without our seeing it begin
//   samples  free and total memory at the start of a session, at each growth
//            of a pool, and at an out-of-memory (MemorySampler)
//   off      no CUDA device is in use, or it was switched off
//
// Samples are taken in every mode but "off": CUPTI knows neither contexts nor
// other processes. Without CUDA in the process all of this is one look for a
// library that is not loaded.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_MEMORY_WATCHER_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_MEMORY_WATCHER_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "collector/cupti/cupti_tee.h"
#include "collector/cupti/device_log.h"
#include "collector/cupti/memory_sampler.h"
#include "collector/cupti/own_cupti.h"
#include "collector/watcher_settings.h"

namespace oom_forensics::cupti {

// How device memory is watched now, or was in the last session, and why so.
struct WatchMode {
  std::string mode;
  std::string reason;
};

class DeviceMemoryWatcher {
 public:
  explicit DeviceMemoryWatcher(const WatcherSettings& settings,
                               MemorySampler::Libraries libraries = {});
  DeviceMemoryWatcher(const DeviceMemoryWatcher&) = delete;
  DeviceMemoryWatcher& operator=(const DeviceMemoryWatcher&) = delete;

  // Once, when TensorFlow is loaded: puts the tee in place where its library
  // `tensorflow` is recognized. The watcher must then live as long as the
  // process.
  void Install(
      const char* tensorflow = collector::TensorFlowLibrary::kImplementation);

  // A profiler session begins, and has ended, TensorFlow's part of it too.
  void StartSession();
  void EndSession();

  // Looks at the devices now. Cheap without CUDA; see SampleDepth with it.
  void Sample(std::string_view reason, SampleDepth depth);

  // The device as the last full sample found it; nothing where there was none.
  std::optional<DeviceNumbers> LastFullSample(int device) {
    return sampler_.LastFullSample(device);
  }

  // The planes of what was seen since `start_ns` (and, in mode own, before), as
  // an XSpace to append to another. Empty without a device.
  // `address_shift` is taken off every address, as it is off those of the
  // allocators' planes.
  std::string WritePlanes(int64_t start_ns, uint64_t address_shift);

  WatchMode Mode() const;

  // Whether a GPU trace of TensorFlow would bring CUPTI's memory records: one
  // sentence.
  std::string TeeState() const;

 private:
  bool IsOff() const;
  void TryOwn();

  const WatcherSettings settings_;
  const int process_id_;
  DeviceLog log_;
  // Looks for the driver when it is asked.
  mutable MemorySampler sampler_;
  OwnCupti own_;
  mutable std::mutex mutex_;
  // Why not; empty: it is in place, or runs.
  std::string tee_refused_ = "TensorFlow is not hooked";
  std::string own_refused_;
  // TensorFlow may trace the GPU without the tee's seeing it.
  bool tensorflow_may_trace_ = false;
  bool own_ran_ = false;
  // That have begun and not ended.
  std::atomic<int> sessions_{0};
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_MEMORY_WATCHER_H_
