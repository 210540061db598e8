#include "collector/cupti/testing/standin_driver.h"

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace oom_forensics::cupti::testing {
namespace {

struct State {
  std::vector<StandinDevice> devices;
  std::vector<StandinProcess> processes;
  bool initialized = false;
  int retained = 0;
  std::vector<int> pushed;
};

State& TheState() {
  static auto* state = new State;
  return *state;
}

bool IsDevice(int device) {
  return TheState().initialized && device >= 0 &&
         device < static_cast<int>(TheState().devices.size());
}

// A context is its device's number plus one.
CUcontext ContextOf(int device) {
  return reinterpret_cast<CUcontext>(static_cast<uintptr_t>(device + 1));
}

int DeviceOf(CUcontext context) {
  return static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1;
}

}  // namespace

void SetDevices(std::vector<StandinDevice> devices, bool initialized) {
  TheState() = State();
  TheState().devices = std::move(devices);
  TheState().initialized = initialized;
}

void SetProcesses(std::vector<StandinProcess> processes) {
  TheState().processes = std::move(processes);
}

int UnbalancedContexts() {
  return TheState().retained + static_cast<int>(TheState().pushed.size());
}

}  // namespace oom_forensics::cupti::testing

using oom_forensics::cupti::testing::ContextOf;
using oom_forensics::cupti::testing::DeviceOf;
using oom_forensics::cupti::testing::IsDevice;
using oom_forensics::cupti::testing::TheState;

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  if (!TheState().initialized) return CUDA_ERROR_NOT_INITIALIZED;
  *count = static_cast<int>(TheState().devices.size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!IsDevice(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  std::snprintf(name, static_cast<size_t>(size), "Stand-in %d", device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* bus_id, int size, CUdevice device) {
  std::snprintf(bus_id, static_cast<size_t>(size), "0000:%02x:00.0", device);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags,
                                    int* active) {
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = TheState().devices[static_cast<size_t>(device)].has_context ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  ++TheState().retained;
  *context = ContextOf(device);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
  --TheState().retained;
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  TheState().pushed.push_back(DeviceOf(context));
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (TheState().pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  *context = ContextOf(TheState().pushed.back());
  TheState().pushed.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  if (TheState().pushed.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  const auto& device =
      TheState().devices[static_cast<size_t>(TheState().pushed.back())];
  *free_bytes = device.free_bytes;
  *total_bytes = device.total_bytes;
  return CUDA_SUCCESS;
}

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  unsigned int number = 0;
  if (std::sscanf(bus_id, "0000:%x:00.0", &number) != 1) return 2;
  *device = reinterpret_cast<void*>(static_cast<uintptr_t>(number + 1));
  return 0;
}

// nvmlProcessInfo_t, as NVML's API reference has it.
struct NvmlProcess {
  unsigned int pid;
  unsigned long long used_bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned int* count,
                                            NvmlProcess* processes) {
  const auto& listed = TheState().processes;
  if (*count < listed.size()) return 7;  // NVML_ERROR_INSUFFICIENT_SIZE
  *count = static_cast<unsigned int>(listed.size());
  for (size_t i = 0; i < listed.size(); ++i) {
    processes[i] = {listed[i].process_id, listed[i].used_bytes, 0, 0};
  }
  return 0;
}

}  // extern "C"
