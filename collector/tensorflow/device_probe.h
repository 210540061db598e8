// DeviceProbe: who looks at the device when TensorFlow's memory changes as a
// whole. Set once, at import; without one nothing happens.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_DEVICE_PROBE_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_DEVICE_PROBE_H_

#include <atomic>

namespace oom_forensics::collector {

enum class ProbeMoment {
  // An allocator was seen for the first time. Nothing is locked.
  kNewAllocator,
  // A pool has grown. Its allocator is locked: be quick.
  kRegionGrowth,
  // A request has failed for good. Nothing is locked.
  kOutOfMemory,
};

using DeviceProbe = void (*)(ProbeMoment) noexcept;

inline std::atomic<DeviceProbe> g_device_probe{nullptr};

inline void SetDeviceProbe(DeviceProbe probe) noexcept {
  g_device_probe.store(probe, std::memory_order_release);
}

inline void ProbeDevice(ProbeMoment moment) noexcept {
  const DeviceProbe probe = g_device_probe.load(std::memory_order_acquire);
  if (probe != nullptr) probe(moment);
}

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_DEVICE_PROBE_H_
