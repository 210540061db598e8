// Nvml: NVIDIA's management library, asked for what each process holds on a
// device. It counts everything: contexts, code, libraries' workspaces.
//
// NVML's header is in neither PyPI wheel nor driver, so the few types that are
// needed are declared here, as NVML's API reference has them.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_NVML_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_NVML_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device_processes.h"

namespace oom_forensics::cupti {

class Nvml {
 public:
  static constexpr const char* kName = "libnvidia-ml.so.1";

  // Opens and initialises the library; none if it is not there or refuses.
  static std::optional<Nvml> Open(const char* name = kName);

  // The processes whose memory on the device it knows, and which they are as
  // far as /proc tells; empty where it cannot say.
  std::vector<DeviceProcess> ProcessesOf(const std::string& pci_bus_id) const;

 private:
  using Device = void*;
  // nvmlProcessInfo_t of the _v3 functions.
  struct Process {
    unsigned int pid;
    unsigned long long used_bytes;
    unsigned int gpu_instance;
    unsigned int compute_instance;
  };

  std::optional<Device> Find(const std::string& pci_bus_id) const;

  int (*find_)(const char* bus_id, Device* device) = nullptr;
  int (*processes_)(Device device, unsigned int* count,
                    Process* processes) = nullptr;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_NVML_H_
