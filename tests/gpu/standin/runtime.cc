// libcudart, thin, on libcuda. NVIDIA's own needs cuGetExportTable.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <vector>

#include "tests/gpu/standin/device.h"
#include "tests/gpu/standin/settings.h"

namespace {

using standin_gpu::Devices;

// The runtime's current device is that of the driver's current context.
cudaError_t Error(CUresult result) {
  return result == CUDA_SUCCESS               ? cudaSuccess
         : result == CUDA_ERROR_OUT_OF_MEMORY ? cudaErrorMemoryAllocation
                                              : cudaErrorUnknown;
}

template <typename Handle>
cudaError_t Make(Handle* handle) {
  *handle = reinterpret_cast<Handle>(standin_gpu::NewHandle());
  return cudaSuccess;
}

struct Launch {
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  void* stream;
};

std::vector<Launch>& Launches() {
  thread_local std::vector<Launch> launches;
  return launches;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  return static_cast<void**>(standin_gpu::NewHandle());
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     void* stream) {
  Launches().push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                       size_t* shared_bytes, void* stream) {
  if (Launches().empty()) return cudaErrorUnknown;
  const Launch& launch = Launches().back();
  *grid = launch.grid;
  *block = launch.block;
  *shared_bytes = launch.shared_bytes;
  *static_cast<void**>(stream) = launch.stream;
  Launches().pop_back();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = standin_gpu::CurrentDevice();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= static_cast<int>(Devices().size())) {
    return cudaErrorInvalidDevice;
  }
  CUcontext context = nullptr;
  const CUresult result = cuDevicePrimaryCtxRetain(&context, device);
  if (result != CUDA_SUCCESS) return Error(result);
  cuCtxSetCurrent(context);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(Devices().size());
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  return Error(cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 12050;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute,
                                   int device) {
  return Error(cuDeviceGetAttribute(
      value, static_cast<CUdevice_attribute>(attribute), device));
}

// The runtime's header calls this cudaGetDeviceProperties, too.
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= static_cast<int>(Devices().size())) {
    return cudaErrorInvalidDevice;
  }
  std::memset(properties, 0, sizeof(*properties));
  const auto attribute = [device](cudaDeviceAttr which) {
    int value = 0;
    cudaDeviceGetAttribute(&value, which, device);
    return value;
  };
  const standin_gpu::Model& model = standin_gpu::TheSettings().model;
  std::strncpy(properties->name, model.name, sizeof(properties->name) - 1);
  properties->totalGlobalMem = model.total_bytes;
  properties->major = model.major;
  properties->minor = model.minor;
  properties->multiProcessorCount = model.multiprocessors;
  properties->warpSize = attribute(cudaDevAttrWarpSize);
  properties->maxThreadsPerBlock = attribute(cudaDevAttrMaxThreadsPerBlock);
  properties->sharedMemPerBlock =
      static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlock));
  properties->regsPerBlock = attribute(cudaDevAttrMaxRegistersPerBlock);
  properties->maxThreadsPerMultiProcessor =
      attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  for (int& size : properties->maxThreadsDim) size = 1024;
  for (int& size : properties->maxGridSize) size = 65535;
  properties->pciBusID = Devices()[static_cast<size_t>(device)]->number() + 1;
  properties->clockRate = attribute(cudaDevAttrClockRate);
  properties->memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
  properties->memoryBusWidth = attribute(cudaDevAttrGlobalMemoryBusWidth);
  properties->l2CacheSize = attribute(cudaDevAttrL2CacheSize);
  return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess                 ? "no error"
         : error == cudaErrorMemoryAllocation ? "out of memory"
                                              : "an error of the stand-in";
}

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess                 ? "cudaSuccess"
         : error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation"
                                              : "cudaErrorOfTheStandIn";
}

cudaError_t cudaMalloc(void** address, size_t bytes) {
  return Error(cuMemAlloc_v2(reinterpret_cast<CUdeviceptr*>(address), bytes));
}

cudaError_t cudaMallocAsync(void** address, size_t bytes, cudaStream_t) {
  return Error(
      cuMemAllocAsync(reinterpret_cast<CUdeviceptr*>(address), bytes, nullptr));
}

cudaError_t cudaFree(void* address) {
  return Error(cuMemFree_v2(reinterpret_cast<CUdeviceptr>(address)));
}

cudaError_t cudaFreeAsync(void* address, cudaStream_t) {
  return cudaFree(address);
}

cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned int) {
  return Error(cuMemHostAlloc(address, bytes, 0));
}

cudaError_t cudaMallocHost(void** address, size_t bytes) {
  return Error(cuMemHostAlloc(address, bytes, 0));
}

cudaError_t cudaFreeHost(void* address) {
  return Error(cuMemFreeHost(address));
}

cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return Error(cuMemGetInfo_v2(free_bytes, total_bytes));
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes,
                                     const void* address) {
  std::memset(attributes, 0, sizeof(*attributes));
  attributes->type = standin_gpu::DeviceHolding(address) != nullptr
                         ? cudaMemoryTypeDevice
                         : cudaMemoryTypeHost;
  attributes->devicePointer = const_cast<void*>(address);
  attributes->hostPointer = const_cast<void*>(address);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes,
                       cudaMemcpyKind) {
  standin_gpu::Copy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes,
                            cudaMemcpyKind, cudaStream_t) {
  standin_gpu::Copy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  standin_gpu::Fill(to, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  standin_gpu::Fill(to, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void** address, const void*) {
  size_t bytes = 0;
  return Error(cuModuleGetGlobal_v2(reinterpret_cast<CUdeviceptr*>(address),
                                    &bytes, nullptr, nullptr));
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return Make(stream); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) {
  return Make(stream);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return Make(event); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  return Make(event);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t,
                                  cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void*) {
  return Make(function);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  std::memset(attributes, 0, sizeof(*attributes));
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = 80;
  attributes->binaryVersion = 80;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                          const void*, int,
                                                          size_t) {
  *blocks = 1;
  return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void*, int, size_t, unsigned int) {
  *blocks = 1;
  return cudaSuccess;
}

}  // extern "C"
