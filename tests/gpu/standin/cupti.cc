// libcupti: the stand-in of the unit tests, with records from this driver.
#include "tests/gpu/standin/cupti.h"

#include <cupti.h>

#include <ctime>

#include "collector/cupti/testing/standin_cupti.h"

namespace standin_gpu {
namespace {

void Record(CUpti_ActivityMemoryOperationType operation, const Device& device,
            uint64_t address, size_t bytes) {
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = operation;
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  record.address = address;
  record.bytes = bytes;
  cuptiGetTimestamp(&record.timestamp);
  for (size_t i = 0; i < Devices().size(); ++i) {
    if (Devices()[i] == &device) record.deviceId = static_cast<uint32_t>(i);
  }
  record.contextId = record.deviceId + 1;
  record.streamId = CUPTI_INVALID_STREAM_ID;
  oom_forensics::cupti::testing::EmitRecord(&record, sizeof(record));
}

}  // namespace

void RecordAllocation(const Device& device, uint64_t address, size_t bytes) {
  Record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, device, address,
         bytes);
}

void RecordRelease(const Device& device, uint64_t address, size_t bytes) {
  Record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, device, address, bytes);
}

}  // namespace standin_gpu
