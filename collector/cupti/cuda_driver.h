// CudaDriver: what the CUDA driver that this process already uses can tell of
// its devices' memory. It never starts CUDA: a driver that is not loaded, a
// process that has not initialised it, and a device without a context are left
// as they are, because a context costs device memory and initialising before a
// fork breaks the child.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_CUDA_DRIVER_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_CUDA_DRIVER_H_

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>

namespace oom_forensics::cupti {

// Memory of a device, that of all processes.
struct DeviceMemory {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};

class CudaDriver {
 public:
  static constexpr const char* kName = "libcuda.so.1";

  // The driver library of this process; none if it is not loaded.
  static std::optional<CudaDriver> FindLoaded(const char* name = kName);

  // Devices that this process may use; 0 also if CUDA is not initialised.
  int DeviceCount() const;

  // Free and total memory by cuMemGetInfo, in the primary context that the
  // process has on the device; none if it has none.
  std::optional<DeviceMemory> MemoryOf(int device) const;

  // "NVIDIA H200"; empty if the driver does not say.
  std::string NameOf(int device) const;

  // "0000:3b:00.0", by which NVML knows the device.
  std::string PciBusIdOf(int device) const;

  // CUDA version of the driver, 1000 * major + 10 * minor; 0: unknown.
  int Version() const;

 private:
  decltype(&cuDeviceGetCount) device_count_ = nullptr;
  decltype(&cuDeviceGet) device_get_ = nullptr;
  decltype(&cuDeviceGetName) device_name_ = nullptr;
  decltype(&cuDeviceGetPCIBusId) pci_bus_id_ = nullptr;
  decltype(&cuDriverGetVersion) version_ = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) context_state_ = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) context_retain_ = nullptr;
  CUresult (*context_release_)(CUdevice) = nullptr;
  CUresult (*context_push_)(CUcontext) = nullptr;
  CUresult (*context_pop_)(CUcontext*) = nullptr;
  CUresult (*memory_info_)(size_t*, size_t*) = nullptr;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_CUDA_DRIVER_H_
