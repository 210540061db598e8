#include "collector/cupti/nvml.h"

#include <dlfcn.h>

#include <array>

namespace oom_forensics::cupti {
namespace {

constexpr int kSuccess = 0;  // NVML_SUCCESS
// nvmlProcessInfo_t.usedGpuMemory where the driver does not know it.
constexpr unsigned long long kNotAvailable = ~0ull;

template <typename Function>
Function FunctionOf(void* handle, const char* name) {
  return reinterpret_cast<Function>(dlsym(handle, name));
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

std::optional<uint64_t> Nvml::ProcessBytes(const std::string& pci_bus_id,
                                           uint32_t process_id) const {
  const auto device = Find(pci_bus_id);
  if (!device.has_value()) return std::nullopt;
  std::array<Process, 256> processes{};
  auto count = static_cast<unsigned int>(processes.size());
  if (processes_(*device, &count, processes.data()) != kSuccess) {
    return std::nullopt;
  }
  for (unsigned int i = 0; i < count && i < processes.size(); ++i) {
    if (processes[i].pid != process_id) continue;
    if (processes[i].used_bytes == kNotAvailable) return std::nullopt;
    return processes[i].used_bytes;
  }
  return std::nullopt;
}

}  // namespace oom_forensics::cupti
