#include "collector/cupti/testing/standin_cupti.h"

#include <cstring>
#include <ctime>
#include <map>
#include <set>

namespace oom_forensics::cupti::testing {
namespace {

struct State {
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<int> enabled;
  std::map<int, CUptiResult> refused;
  bool has_subscriber = false;
  bool tracks_source = false;
  int64_t clock_offset_ns = 0;
  uint8_t* buffer = nullptr;
  size_t buffer_bytes = 0;
  size_t valid_bytes = 0;
  size_t dropped_records = 0;
};

State& TheState() {
  static auto* state = new State;
  return *state;
}

void CompleteBuffer() {
  State& state = TheState();
  if (state.buffer == nullptr) return;
  uint8_t* const buffer = state.buffer;
  state.buffer = nullptr;
  if (state.complete == nullptr) return;
  state.complete(nullptr, 0, buffer, state.buffer_bytes, state.valid_bytes);
}

uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec * 1'000'000'000 + now.tv_nsec +
                               TheState().clock_offset_ns);
}

size_t SizeOf(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return sizeof(CUpti_ActivityMemoryPool2);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel9);
    default:
      return 0;
  }
}

CUpti_ActivityMemory4 MemoryRecord(CUpti_ActivityMemoryOperationType operation,
                                   uint64_t address, uint64_t bytes) {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = operation;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.address = address;
  record.bytes = bytes;
  record.timestamp = Now();
  record.streamId = CUPTI_INVALID_STREAM_ID;
  return record;
}

}  // namespace

void EmitRecord(const void* record, size_t size) {
  State& state = TheState();
  CUpti_ActivityKind kind;
  std::memcpy(&kind, record, sizeof(kind));
  if (state.enabled.count(kind) == 0) return;
  if (state.buffer != nullptr &&
      state.valid_bytes + size > state.buffer_bytes) {
    CompleteBuffer();
  }
  if (state.buffer == nullptr && state.request != nullptr) {
    size_t max_records = 0;
    state.valid_bytes = 0;
    state.request(&state.buffer, &state.buffer_bytes, &max_records);
  }
  if (state.buffer == nullptr) {
    ++state.dropped_records;
    return;
  }
  std::memcpy(state.buffer + state.valid_bytes, record, size);
  state.valid_bytes += size;
}

void RefuseKind(CUpti_ActivityKind kind, CUptiResult result) {
  TheState().refused[kind] = result;
}

void LoseRecords(size_t count) { TheState().dropped_records += count; }

bool IsEnabled(CUpti_ActivityKind kind) {
  return TheState().enabled.count(kind) != 0;
}

bool HasSubscriber() { return TheState().has_subscriber; }

bool TracksAllocationSource() { return TheState().tracks_source; }

void SetClockOffset(int64_t offset_ns) {
  TheState().clock_offset_ns = offset_ns;
}

void ResetStandinCupti() { TheState() = State(); }

void EmitAllocation(uint64_t address, uint64_t bytes, const char* source) {
  CUpti_ActivityMemory4 record = MemoryRecord(
      CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, address, bytes);
  if (TheState().tracks_source) record.source = source;
  EmitRecord(&record, sizeof(record));
}

void EmitRelease(uint64_t address, uint64_t bytes) {
  const CUpti_ActivityMemory4 record = MemoryRecord(
      CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, address, bytes);
  EmitRecord(&record, sizeof(record));
}

void EmitPoolCreated(uint64_t address) {
  CUpti_ActivityMemoryPool2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL;
  record.memoryPoolOperationType =
      CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
  record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.address = address;
  record.timestamp = Now();
  EmitRecord(&record, sizeof(record));
}

void EmitKernel() {
  CUpti_ActivityKernel9 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  EmitRecord(&record, sizeof(record));
}

}  // namespace oom_forensics::cupti::testing

using oom_forensics::cupti::testing::CompleteBuffer;
using oom_forensics::cupti::testing::Now;
using oom_forensics::cupti::testing::SizeOf;
using oom_forensics::cupti::testing::State;
using oom_forensics::cupti::testing::TheState;

extern "C" {

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t* timestamp) {
  *timestamp = Now();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                                    CUpti_CallbackFunc, void*) {
  State& state = TheState();
  if (state.has_subscriber) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  state.has_subscriber = true;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&state);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle) {
  TheState().has_subscriber = false;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete) {
  if (request == nullptr || complete == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  TheState().request = request;
  TheState().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind) {
  State& state = TheState();
  if (const auto refused = state.refused.find(kind);
      refused != state.refused.end()) {
    return refused->second;
  }
  state.enabled.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind) {
  TheState().enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t) {
  CompleteBuffer();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t* buffer,
                                                size_t valid_bytes,
                                                CUpti_Activity** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record) + SizeOf((*record)->kind);
  }
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  auto* const activity = reinterpret_cast<CUpti_Activity*>(next);
  if (SizeOf(activity->kind) == 0) return CUPTI_ERROR_INVALID_KIND;
  *record = activity;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t,
                                                       size_t* dropped) {
  *dropped = TheState().dropped_records;
  TheState().dropped_records = 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableAllocationSource(uint8_t enable) {
  TheState().tracks_source = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result,
                                          const char** text) {
  *text = result == CUPTI_SUCCESS ? "CUPTI_SUCCESS" : "CUPTI_ERROR_STANDIN";
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiFinalize() {
  State& state = TheState();
  State fresh;
  fresh.refused = state.refused;
  fresh.clock_offset_ns = state.clock_offset_ns;
  state = fresh;
  return CUPTI_SUCCESS;
}

}  // extern "C"
