#include "collector/cupti/nvml.h"

#include <dlfcn.h>

#include <array>
#include <fstream>

namespace oom_forensics::cupti {
namespace {

constexpr int kSuccess = 0;  // NVML_SUCCESS
// nvmlProcessInfo_t.usedGpuMemory where the driver does not know it.
constexpr unsigned long long kNotAvailable = ~0ull;

template <typename Function>
Function FunctionOf(void* handle, const char* name) {
  return reinterpret_cast<Function>(dlsym(handle, name));
}

std::string NameOf(unsigned int process_id) {
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(process_id) + "/comm"),
               name);
  return name;
}

}  // namespace

std::optional<Nvml> Nvml::Open(const char* name) {
  void* const handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  const auto init = FunctionOf<int (*)()>(handle, "nvmlInit_v2");
  Nvml nvml;
  nvml.find_ = FunctionOf<decltype(nvml.find_)>(
      handle, "nvmlDeviceGetHandleByPciBusId_v2");
  // Missing before driver 510.
  nvml.processes_ = FunctionOf<decltype(nvml.processes_)>(
      handle, "nvmlDeviceGetComputeRunningProcesses_v3");
  if (init == nullptr || nvml.find_ == nullptr || nvml.processes_ == nullptr ||
      init() != kSuccess) {
    dlclose(handle);
    return std::nullopt;
  }
  return nvml;
}

std::optional<Nvml::Device> Nvml::Find(const std::string& pci_bus_id) const {
  Device device = nullptr;
  if (pci_bus_id.empty() || find_(pci_bus_id.c_str(), &device) != kSuccess) {
    return std::nullopt;
  }
  return device;
}

std::vector<DeviceProcess> Nvml::ProcessesOf(
    const std::string& pci_bus_id) const {
  const auto device = Find(pci_bus_id);
  if (!device.has_value()) return {};
  std::array<Process, 256> listed{};
  auto count = static_cast<unsigned int>(listed.size());
  if (processes_(*device, &count, listed.data()) != kSuccess) return {};
  std::vector<DeviceProcess> processes;
  for (unsigned int i = 0; i < count && i < listed.size(); ++i) {
    if (listed[i].used_bytes == kNotAvailable) continue;
    processes.push_back(
        {listed[i].pid, listed[i].used_bytes, NameOf(listed[i].pid)});
  }
  return processes;
}

}  // namespace oom_forensics::cupti
