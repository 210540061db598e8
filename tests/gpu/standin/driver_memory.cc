// libcuda: memory, pools and copies. Copies are done at once.
#include <cuda.h>

#include <cstring>

#include "tests/gpu/standin/cupti.h"
#include "tests/gpu/standin/device.h"

namespace standin_gpu {
namespace {

Device* Current() {
  const auto device = static_cast<size_t>(CurrentDevice());
  return device < Devices().size() ? Devices()[device] : nullptr;
}

void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUdeviceptr Address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

Pool* PoolOf(CUmemoryPool pool) { return reinterpret_cast<Pool*>(pool); }

CUresult AllocateFromPool(CUdeviceptr* address, size_t bytes, Pool* pool) {
  Device* const device = Devices()[static_cast<size_t>(pool->device)];
  void* const block = device->AllocateFrom(pool, bytes);
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = Address(block);
  RecordAllocation(*device, *address, bytes);
  return CUDA_SUCCESS;
}

CUresult Release(CUdeviceptr address) {
  if (address == 0) return CUDA_SUCCESS;
  Device* const device = DeviceHolding(Pointer(address));
  void* base = nullptr;
  size_t bytes = 0;
  if (device == nullptr || !device->Find(Pointer(address), &base, &bytes) ||
      base != Pointer(address)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  RecordRelease(*device, address, bytes);
  device->Free(base);
  return CUDA_SUCCESS;
}

CUresult CopyBytes(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  Copy(Pointer(to), Pointer(from), bytes);
  return CUDA_SUCCESS;
}

template <typename T>
CUresult FillWith(CUdeviceptr to, T value, size_t count) {
  if (value == 0) {
    Fill(Pointer(to), 0, count * sizeof(T));
    return CUDA_SUCCESS;
  }
  // As a copy that is too large to be of use.
  if (count > (size_t{1} << 20)) return CUDA_SUCCESS;
  for (size_t i = 0; i < count; ++i) {
    std::memcpy(Pointer(to + i * sizeof(T)), &value, sizeof(T));
  }
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace standin_gpu

using standin_gpu::Address;
using standin_gpu::CopyBytes;
using standin_gpu::Current;
using standin_gpu::Device;
using standin_gpu::FillWith;
using standin_gpu::Pointer;
using standin_gpu::Pool;
using standin_gpu::PoolOf;

extern "C" {

CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  Device* const device = Current();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *free_bytes = device->FreeBytes();
  *total_bytes = device->total_bytes();
  return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  Device* const device = Current();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  void* block = device->Allocate(bytes);
  if (block == nullptr) {
    // What the pools keep and nobody uses is given back before a refusal.
    device->Trim(device->default_pool(), 0);
    block = device->Allocate(bytes);
  }
  if (block == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = Address(block);
  standin_gpu::RecordAllocation(*device, *address, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned int) {
  return cuMemAlloc_v2(address, bytes);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return standin_gpu::Release(address);
}

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned int) {
  *address = standin_gpu::AllocateHost(bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocHost_v2(void** address, size_t bytes) {
  return cuMemHostAlloc(address, bytes, 0);
}

CUresult cuMemFreeHost(void* address) {
  return standin_gpu::FreeHost(address) ? CUDA_SUCCESS
                                        : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host,
                                      unsigned int) {
  *address = Address(host);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes,
                                 CUdeviceptr address) {
  Device* const device = standin_gpu::DeviceHolding(Pointer(address));
  void* begin = nullptr;
  size_t size = 0;
  if (device == nullptr || !device->Find(Pointer(address), &begin, &size)) {
    return CUDA_ERROR_NOT_FOUND;
  }
  if (base != nullptr) *base = Address(begin);
  if (bytes != nullptr) *bytes = size;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  Device* const device = standin_gpu::DeviceHolding(Pointer(address));
  if (device == nullptr && !standin_gpu::IsPinned(Pointer(address))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  int ordinal = 0;
  for (size_t i = 0; i < standin_gpu::Devices().size(); ++i) {
    if (standin_gpu::Devices()[i] == device) ordinal = static_cast<int>(i);
  }
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned int*>(value) =
          device != nullptr ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<uintptr_t*>(value) = static_cast<uintptr_t>(ordinal + 1);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = ordinal;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      *static_cast<CUdeviceptr*>(value) = address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned int*>(value) = 0;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  Pool* const found =
      standin_gpu::Devices()[static_cast<size_t>(device)]->default_pool();
  found->device = device;
  *pool = reinterpret_cast<CUmemoryPool>(found);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return cuDeviceGetDefaultMemPool(pool, device);
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* props) {
  auto* const made = new Pool;
  made->device = props->location.id;
  *pool = reinterpret_cast<CUmemoryPool>(made);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                               void* value) {
  if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
    PoolOf(pool)->release_threshold_bytes = *static_cast<uint64_t*>(value);
  }
  if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH) {
    PoolOf(pool)->reserved_high_bytes = PoolOf(pool)->reserved_bytes;
  }
  if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
    PoolOf(pool)->used_high_bytes = PoolOf(pool)->used_bytes;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                               void* value) {
  uint64_t answer = 0;
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      answer = PoolOf(pool)->release_threshold_bytes;
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      answer = PoolOf(pool)->reserved_bytes;
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      answer = PoolOf(pool)->reserved_high_bytes;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      answer = PoolOf(pool)->used_bytes;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      answer = PoolOf(pool)->used_high_bytes;
      break;
    default:
      *static_cast<int*>(value) = 1;
      return CUDA_SUCCESS;
  }
  *static_cast<uint64_t*>(value) = answer;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep_bytes) {
  standin_gpu::Devices()[static_cast<size_t>(PoolOf(pool)->device)]->Trim(
      PoolOf(pool), keep_bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes,
                                 CUmemoryPool pool, CUstream) {
  return standin_gpu::AllocateFromPool(address, bytes, PoolOf(pool));
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream) {
  CUmemoryPool pool = nullptr;
  cuDeviceGetDefaultMemPool(&pool, standin_gpu::CurrentDevice());
  return standin_gpu::AllocateFromPool(address, bytes, PoolOf(pool));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream) {
  return standin_gpu::Release(address);
}

CUresult cuMemGetAllocationGranularity(size_t* bytes,
                                       const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  *bytes = 2 << 20;
  return CUDA_SUCCESS;
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return CopyBytes(to, from, bytes);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream) {
  return CopyBytes(to, from, bytes);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return CopyBytes(to, Address(from), bytes);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes,
                              CUstream) {
  return CopyBytes(to, Address(from), bytes);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return CopyBytes(Address(to), from, bytes);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes,
                              CUstream) {
  return CopyBytes(Address(to), from, bytes);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return CopyBytes(to, from, bytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                              CUstream) {
  return CopyBytes(to, from, bytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from,
                           CUcontext, size_t bytes, CUstream) {
  return CopyBytes(to, from, bytes);
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return FillWith(to, value, count);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count,
                         CUstream) {
  return FillWith(to, value, count);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count,
                          CUstream) {
  return FillWith(to, value, count);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count) {
  return FillWith(to, value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count,
                          CUstream) {
  return FillWith(to, value, count);
}

}  // extern "C"
