#include "collector/tensorflow/allocator_identity.h"

#include <algorithm>

namespace oom_forensics::collector {
namespace {

constexpr char kCpuDevice[] = "/device:CPU:0";

// The number between `prefix` and `suffix`; empty if the name is not so.
std::string_view NumberIn(std::string_view name, std::string_view prefix,
                          std::string_view suffix) {
  if (name.size() <= prefix.size() + suffix.size() ||
      name.substr(0, prefix.size()) != prefix ||
      name.substr(name.size() - suffix.size()) != suffix) {
    return {};
  }
  const std::string_view number =
      name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  const bool digits = std::all_of(number.begin(), number.end(),
                                  [](char c) { return c >= '0' && c <= '9'; });
  return digits ? number : std::string_view();
}

}  // namespace

AllocatorIdentity IdentifyBfcAllocator(std::string_view name) {
  if (name == "gpu_host_bfc" || name == "cuda_host_bfc" ||
      name == "pluggable_device_host_bfc") {
    return {"gpu_host", kCpuDevice, true};
  }
  if (name == "bfc_cpu_allocator_for_gpu" || name == "mklcpu") {
    return {"bfc", kCpuDevice, true};
  }
  if (const auto number = NumberIn(name, "GPU_", "_bfc"); !number.empty()) {
    return {"bfc", "/device:GPU:" + std::string(number)};
  }
  // The type of the device ("XPU") is the plugin's; the name does not say it.
  if (!NumberIn(name, "PluggableDevice_", "_bfc").empty())
    return {"pluggable", ""};
  return {"bfc", ""};
}

std::string DeviceOfDirectAllocator(std::string_view name) {
  const auto number = NumberIn(name, "gpu_async_", "");
  return number.empty() ? "" : "/device:GPU:" + std::string(number);
}

}  // namespace oom_forensics::collector
