// DevicePlaneWriter: what was recorded of the CUDA devices, as the planes
// `/oom_forensics:cupti:<n>` of proto/event_schema.h.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_PLANE_WRITER_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_PLANE_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "collector/cupti/clock_converter.h"
#include "collector/cupti/device_log.h"

namespace oom_forensics::cupti {

// What the planes say of the recording as a whole.
struct DeviceFacts {
  // "tee", "own", "samples" or "off", and why.
  std::string mode;
  std::string reason;
  // CUPTI_API_VERSION of the library that recorded; 0: none did.
  uint32_t cupti_version = 0;
  // Of CUPTI's time stamps.
  ClockConverter clock;
  // Taken off every address.
  uint64_t address_shift = 0;
  // The name of a device; empty: not known.
  std::function<std::string(int device)> name_of = [](int) { return ""; };
  std::function<std::string(int device)> pci_bus_id_of = [](int) { return ""; };
};

// One XSpace with a plane per device that `contents` has events of, to be
// appended to another one. The lines begin at `start_ns` (collector's clock,
// since the epoch). An event from before is put there: what it allocated or
// freed counts from the beginning on.
std::string WriteDevicePlanes(const DeviceLog::Contents& contents,
                              const DeviceFacts& facts, int64_t start_ns);

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_DEVICE_PLANE_WRITER_H_
