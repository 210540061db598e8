// A pluggable device for tests: it computes nothing, and its memory is memory
// of the host, of which there is only so much. The test builds it against the
// headers of the installed TensorFlow and loads it as any plugin.
//
//   HOSTED_TYPE     the type of its devices; default "HOSTED"
//   HOSTED_COUNT    how many there are; default 1
//   HOSTED_MIB      memory of each, in MiB; default 319, of which a BFC
//                   allocator gets 64 (TensorFlow leaves 255 to the system)
//   HOSTED_BFC      "1": TensorFlow is to divide the memory; else each block is
//                   asked for here
//   HOSTED_GROWTH   "1": it is to do so as the need grows
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

// What TensorFlow refers to as a stream, an event and a timer: work is done by
// the time that it has been enqueued, so there is nothing to tell apart.
struct SP_Stream_st {};
struct SP_Event_st {};
struct SP_Timer_st {};

namespace {

constexpr size_t kMaxDevices = 8;
// In front of each block, to know its size; as large as the alignment.
constexpr size_t kHeaderBytes = 256;

std::atomic<int64_t> g_used_bytes[kMaxDevices];

std::string Setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

const char* DeviceType() {
  static const auto* const type =
      new std::string(Setting("HOSTED_TYPE", "HOSTED"));
  return type->c_str();
}

int64_t TotalBytes() {
  return std::atoll(Setting("HOSTED_MIB", "319").c_str()) << 20;
}

void Succeed(TF_Status* status) { TF_SetStatus(status, TF_OK, ""); }

// -------------------------------------------------------------------- memory

void Allocate(const SP_Device* device, uint64_t size, int64_t,
              SP_DeviceMemoryBase* memory) {
  memory->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  memory->opaque = nullptr;
  memory->size = 0;
  auto& used = g_used_bytes[device->ordinal];
  const auto bytes = static_cast<int64_t>(size);
  if (used.fetch_add(bytes) + bytes > TotalBytes()) {
    used.fetch_sub(bytes);
    return;
  }
  const size_t whole =
      (size + 2 * kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
  auto* block = static_cast<char*>(std::aligned_alloc(kHeaderBytes, whole));
  std::memcpy(block, &size, sizeof(size));
  memory->opaque = block + kHeaderBytes;
  memory->size = size;
}

void Deallocate(const SP_Device* device, SP_DeviceMemoryBase* memory) {
  if (memory->opaque == nullptr) return;
  auto* block = static_cast<char*>(memory->opaque) - kHeaderBytes;
  uint64_t size;
  std::memcpy(&size, block, sizeof(size));
  g_used_bytes[device->ordinal].fetch_sub(static_cast<int64_t>(size));
  std::free(block);
  memory->opaque = nullptr;
}

void* AllocateHost(const SP_Device*, uint64_t size) {
  return std::aligned_alloc(
      kHeaderBytes, (size + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes);
}
void DeallocateHost(const SP_Device*, void* block) { std::free(block); }

TF_Bool GetAllocatorStats(const SP_Device*, SP_AllocatorStats*) { return 0; }
TF_Bool DeviceMemoryUsage(const SP_Device* device, int64_t* free,
                          int64_t* total) {
  *total = TotalBytes();
  *free = *total - g_used_bytes[device->ordinal];
  return 1;
}

// ------------------------------------------------- streams, events and timers

void CreateStream(const SP_Device*, SP_Stream* stream, TF_Status* status) {
  *stream = new SP_Stream_st;
  Succeed(status);
}
void DestroyStream(const SP_Device*, SP_Stream stream) { delete stream; }
void CreateStreamDependency(const SP_Device*, SP_Stream, SP_Stream,
                            TF_Status* status) {
  Succeed(status);
}
void GetStreamStatus(const SP_Device*, SP_Stream, TF_Status* status) {
  Succeed(status);
}
void CreateEvent(const SP_Device*, SP_Event* event, TF_Status* status) {
  *event = new SP_Event_st;
  Succeed(status);
}
void DestroyEvent(const SP_Device*, SP_Event event) { delete event; }
SE_EventStatus GetEventStatus(const SP_Device*, SP_Event) {
  return SE_EVENT_COMPLETE;
}
void RecordEvent(const SP_Device*, SP_Stream, SP_Event, TF_Status* status) {
  Succeed(status);
}
void WaitForEvent(const SP_Device*, SP_Stream, SP_Event, TF_Status* status) {
  Succeed(status);
}
void CreateTimer(const SP_Device*, SP_Timer* timer, TF_Status* status) {
  *timer = new SP_Timer_st;
  Succeed(status);
}
void DestroyTimer(const SP_Device*, SP_Timer timer) { delete timer; }
void StartTimer(const SP_Device*, SP_Stream, SP_Timer, TF_Status* status) {
  Succeed(status);
}
void StopTimer(const SP_Device*, SP_Stream, SP_Timer, TF_Status* status) {
  Succeed(status);
}
uint64_t TimerNanoseconds(SP_Timer) { return 0; }

void BlockHostForEvent(const SP_Device*, SP_Event, TF_Status* status) {
  Succeed(status);
}
void BlockHostUntilDone(const SP_Device*, SP_Stream, TF_Status* status) {
  Succeed(status);
}
void SynchronizeAllActivity(const SP_Device*, TF_Status* status) {
  Succeed(status);
}
TF_Bool HostCallback(const SP_Device*, SP_Stream, SE_StatusCallbackFn callback,
                     void* argument) {
  TF_Status* status = TF_NewStatus();
  callback(argument, status);
  const bool succeeded = TF_GetCode(status) == TF_OK;
  TF_DeleteStatus(status);
  return succeeded ? 1 : 0;
}

// -------------------------------------------------------------------- copies

void CopyToHost(const SP_Device*, SP_Stream, void* to,
                const SP_DeviceMemoryBase* from, uint64_t size,
                TF_Status* status) {
  std::memcpy(to, from->opaque, size);
  Succeed(status);
}
void CopyToDevice(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to,
                  const void* from, uint64_t size, TF_Status* status) {
  std::memcpy(to->opaque, from, size);
  Succeed(status);
}
void CopyOnDevice(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* to,
                  const SP_DeviceMemoryBase* from, uint64_t size,
                  TF_Status* status) {
  std::memcpy(to->opaque, from->opaque, size);
  Succeed(status);
}
void CopyToHostNow(const SP_Device* device, void* to,
                   const SP_DeviceMemoryBase* from, uint64_t size,
                   TF_Status* status) {
  CopyToHost(device, nullptr, to, from, size, status);
}
void CopyToDeviceNow(const SP_Device* device, SP_DeviceMemoryBase* to,
                     const void* from, uint64_t size, TF_Status* status) {
  CopyToDevice(device, nullptr, to, from, size, status);
}
void CopyOnDeviceNow(const SP_Device* device, SP_DeviceMemoryBase* to,
                     const SP_DeviceMemoryBase* from, uint64_t size,
                     TF_Status* status) {
  CopyOnDevice(device, nullptr, to, from, size, status);
}
void Zero(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory,
          uint64_t size, TF_Status* status) {
  std::memset(memory->opaque, 0, size);
  Succeed(status);
}
void Set(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory,
         uint8_t pattern, uint64_t size, TF_Status* status) {
  std::memset(memory->opaque, pattern, size);
  Succeed(status);
}
void Set32(const SP_Device*, SP_Stream, SP_DeviceMemoryBase* memory,
           uint32_t pattern, uint64_t size, TF_Status* status) {
  for (uint64_t i = 0; i + sizeof(pattern) <= size; i += sizeof(pattern)) {
    std::memcpy(static_cast<char*>(memory->opaque) + i, &pattern,
                sizeof(pattern));
  }
  Succeed(status);
}

// ------------------------------------------------------------------ platform

void GetDeviceCount(const SP_Platform*, int* count, TF_Status* status) {
  *count = std::atoi(Setting("HOSTED_COUNT", "1").c_str());
  Succeed(status);
}
void CreateDevice(const SP_Platform*, SE_CreateDeviceParams* params,
                  TF_Status* status) {
  params->device->struct_size = SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "memory of the host";
  Succeed(status);
}
void DestroyDevice(const SP_Platform*, SP_Device*) {}
void CreateDeviceFns(const SP_Platform*, SE_CreateDeviceFnsParams* params,
                     TF_Status* status) {
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
  Succeed(status);
}
void DestroyDeviceFns(const SP_Platform*, SP_DeviceFns*) {}
void CreateStreamExecutor(const SP_Platform*,
                          SE_CreateStreamExecutorParams* params,
                          TF_Status* status) {
  SP_StreamExecutor* const executor = params->stream_executor;
  executor->struct_size = SP_STREAMEXECUTOR_STRUCT_SIZE;
  executor->allocate = Allocate;
  executor->deallocate = Deallocate;
  executor->host_memory_allocate = AllocateHost;
  executor->host_memory_deallocate = DeallocateHost;
  executor->get_allocator_stats = GetAllocatorStats;
  executor->device_memory_usage = DeviceMemoryUsage;
  executor->create_stream = CreateStream;
  executor->destroy_stream = DestroyStream;
  executor->create_stream_dependency = CreateStreamDependency;
  executor->get_stream_status = GetStreamStatus;
  executor->create_event = CreateEvent;
  executor->destroy_event = DestroyEvent;
  executor->get_event_status = GetEventStatus;
  executor->record_event = RecordEvent;
  executor->wait_for_event = WaitForEvent;
  executor->create_timer = CreateTimer;
  executor->destroy_timer = DestroyTimer;
  executor->start_timer = StartTimer;
  executor->stop_timer = StopTimer;
  executor->memcpy_dtoh = CopyToHost;
  executor->memcpy_htod = CopyToDevice;
  executor->memcpy_dtod = CopyOnDevice;
  executor->sync_memcpy_dtoh = CopyToHostNow;
  executor->sync_memcpy_htod = CopyToDeviceNow;
  executor->sync_memcpy_dtod = CopyOnDeviceNow;
  executor->block_host_for_event = BlockHostForEvent;
  executor->block_host_until_done = BlockHostUntilDone;
  executor->synchronize_all_activity = SynchronizeAllActivity;
  executor->mem_zero = Zero;
  executor->memset = Set;
  executor->memset32 = Set32;
  executor->host_callback = HostCallback;
  Succeed(status);
}
void DestroyStreamExecutor(const SP_Platform*, SP_StreamExecutor*) {}
void CreateTimerFns(const SP_Platform*, SP_TimerFns* timer, TF_Status* status) {
  timer->struct_size = SP_TIMER_FNS_STRUCT_SIZE;
  timer->nanoseconds = TimerNanoseconds;
  Succeed(status);
}
void DestroyTimerFns(const SP_Platform*, SP_TimerFns*) {}
void DestroyPlatform(SP_Platform*) {}
void DestroyPlatformFns(SP_PlatformFns*) {}

// The one op of this device: ZerosLike, which needs memory and no more.
void ComputeZerosLike(void*, TF_OpKernelContext* context) {
  TF_Status* status = TF_NewStatus();
  TF_Tensor* input = nullptr;
  TF_GetInput(context, 0, &input, status);
  if (TF_GetCode(status) == TF_OK) {
    int64_t dims[8];
    const int dim_count = TF_NumDims(input);
    for (int i = 0; i < dim_count; ++i) dims[i] = TF_Dim(input, i);
    const size_t bytes = TF_TensorByteSize(input);
    TF_Tensor* output =
        TF_AllocateOutput(context, 0, TF_ExpectedOutputDataType(context, 0),
                          dims, dim_count, bytes, status);
    if (TF_GetCode(status) == TF_OK) {
      std::memset(TF_TensorData(output), 0, bytes);
    }
    if (output != nullptr) TF_DeleteTensor(output);
  }
  if (TF_GetCode(status) != TF_OK) TF_OpKernelContext_Failure(context, status);
  if (input != nullptr) TF_DeleteTensor(input);
  TF_DeleteStatus(status);
}

}  // namespace

extern "C" {

void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* status) {
  SP_Platform* const platform = params->platform;
  platform->struct_size = SP_PLATFORM_STRUCT_SIZE;
  platform->name = "HOST_MEMORY";
  platform->type = DeviceType();
  platform->supports_unified_memory = 0;
  platform->use_bfc_allocator = Setting("HOSTED_BFC", "0") == "1" ? 1 : 0;
  platform->force_memory_growth = Setting("HOSTED_GROWTH", "0") == "1" ? 1 : 0;
  SP_PlatformFns* const functions = params->platform_fns;
  functions->struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  functions->get_device_count = GetDeviceCount;
  functions->create_device = CreateDevice;
  functions->destroy_device = DestroyDevice;
  functions->create_device_fns = CreateDeviceFns;
  functions->destroy_device_fns = DestroyDeviceFns;
  functions->create_stream_executor = CreateStreamExecutor;
  functions->destroy_stream_executor = DestroyStreamExecutor;
  functions->create_timer_fns = CreateTimerFns;
  functions->destroy_timer_fns = DestroyTimerFns;
  params->destroy_platform = DestroyPlatform;
  params->destroy_platform_fns = DestroyPlatformFns;
  Succeed(status);
}

void TF_InitKernel() {
  TF_Status* status = TF_NewStatus();
  TF_RegisterKernelBuilder(
      "ZerosLikeHosted",
      TF_NewKernelBuilder("ZerosLike", DeviceType(), nullptr, ComputeZerosLike,
                          nullptr),
      status);
  if (TF_GetCode(status) != TF_OK) std::abort();
  TF_DeleteStatus(status);
}

}  // extern "C"
