// Who holds memory of a device, as NVML lists it.
#ifndef OOM_FORENSICS_CORE_DEVICE_PROCESSES_H_
#define OOM_FORENSICS_CORE_DEVICE_PROCESSES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics {

struct DeviceProcess {
  uint32_t process_id = 0;
  // All that it holds on the device.
  uint64_t bytes = 0;
  // The name of its program; empty: it cannot be seen from here.
  std::string name;
};

// As a trace has them: a line each, "4711 2621440000 python". At most eight,
// the largest first.
std::string ToLines(std::vector<DeviceProcess> processes);

// What ToLines wrote; lines that are not like that are left out.
std::vector<DeviceProcess> ProcessesFromLines(std::string_view lines);

// "python (process 4711) 2.44 GiB, process 12 40.0 MiB"
std::string DescribeProcesses(const std::vector<DeviceProcess>& processes);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_DEVICE_PROCESSES_H_
