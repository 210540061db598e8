#include "collector/cupti/cuda_driver.h"

#include <dlfcn.h>

#include <type_traits>

namespace oom_forensics::cupti {

std::optional<CudaDriver> CudaDriver::FindLoaded(const char* name) {
  void* const handle = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return std::nullopt;
  CudaDriver driver;
  bool complete = true;
  const auto find = [&](auto* function, const char* symbol) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(
        dlsym(handle, symbol));
    complete = complete && *function != nullptr;
  };
  find(&driver.device_count_, "cuDeviceGetCount");
  find(&driver.device_get_, "cuDeviceGet");
  find(&driver.device_name_, "cuDeviceGetName");
  find(&driver.pci_bus_id_, "cuDeviceGetPCIBusId");
  find(&driver.version_, "cuDriverGetVersion");
  find(&driver.context_state_, "cuDevicePrimaryCtxGetState");
  find(&driver.context_retain_, "cuDevicePrimaryCtxRetain");
  find(&driver.context_release_, "cuDevicePrimaryCtxRelease_v2");
  find(&driver.context_push_, "cuCtxPushCurrent_v2");
  find(&driver.context_pop_, "cuCtxPopCurrent_v2");
  find(&driver.memory_info_, "cuMemGetInfo_v2");
  if (!complete) return std::nullopt;
  return driver;
}

int CudaDriver::DeviceCount() const {
  int count = 0;
  return device_count_(&count) == CUDA_SUCCESS ? count : 0;
}

std::optional<DeviceMemory> CudaDriver::MemoryOf(int device) const {
  CUdevice handle = 0;
  unsigned int flags = 0;
  int active = 0;
  if (device_get_(&handle, device) != CUDA_SUCCESS ||
      context_state_(handle, &flags, &active) != CUDA_SUCCESS || active == 0) {
    return std::nullopt;
  }
  CUcontext context = nullptr;
  if (context_retain_(&context, handle) != CUDA_SUCCESS) return std::nullopt;
  std::optional<DeviceMemory> memory;
  if (context_push_(context) == CUDA_SUCCESS) {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    if (memory_info_(&free_bytes, &total_bytes) == CUDA_SUCCESS) {
      memory = DeviceMemory{free_bytes, total_bytes};
    }
    CUcontext popped = nullptr;
    context_pop_(&popped);
  }
  context_release_(handle);
  return memory;
}

std::string CudaDriver::NameOf(int device) const {
  CUdevice handle = 0;
  char name[256] = "";
  if (device_get_(&handle, device) != CUDA_SUCCESS ||
      device_name_(name, sizeof(name), handle) != CUDA_SUCCESS) {
    return "";
  }
  return name;
}

std::string CudaDriver::PciBusIdOf(int device) const {
  CUdevice handle = 0;
  char bus_id[64] = "";
  if (device_get_(&handle, device) != CUDA_SUCCESS ||
      pci_bus_id_(bus_id, sizeof(bus_id), handle) != CUDA_SUCCESS) {
    return "";
  }
  return bus_id;
}

int CudaDriver::Version() const {
  int version = 0;
  return version_(&version) == CUDA_SUCCESS ? version : 0;
}

}  // namespace oom_forensics::cupti
