#include "collector/cupti/record_reader.h"

#include <cstddef>
#include <cstring>

namespace oom_forensics::cupti {
namespace {

// The layouts are spelled out, so that an older CUDA Toolkit, whose headers end
// at an earlier version of the record, builds the same reader. The newest ones
// are checked against the headers where these have them.
struct MemoryRecord {
  uint32_t kind;
  uint32_t operation;
  uint32_t memory_kind;
  uint32_t correlation_id;
  uint64_t address;
  uint64_t bytes;
  uint64_t timestamp;
  uint64_t program_counter;
  uint32_t process_id;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  const char* name;
  uint32_t is_async;
  uint32_t reserved1;
  uint32_t pool_type;
  uint32_t reserved2;
  uint64_t pool_address;
  uint64_t pool_release_threshold;
  uint64_t pool_size;
  uint64_t pool_utilized;  // CUpti_ActivityMemory3 and later
  const char* source;      // CUpti_ActivityMemory4
};
constexpr size_t kSmallestMemoryRecord = offsetof(MemoryRecord, pool_utilized);

struct PoolRecord {
  uint32_t kind;
  uint32_t operation;
  uint32_t pool_type;
  uint32_t correlation_id;
  uint32_t process_id;
  uint32_t device;
  uint64_t min_bytes_to_keep;
  uint64_t address;
  uint64_t size;
  uint64_t release_threshold;
  uint64_t timestamp;
  uint64_t utilized;  // CUpti_ActivityMemoryPool2
};
constexpr size_t kSmallestPoolRecord = offsetof(PoolRecord, utilized);

#if CUPTI_API_VERSION >= 24
static_assert(sizeof(MemoryRecord) == sizeof(CUpti_ActivityMemory4));
static_assert(offsetof(MemoryRecord, address) ==
              offsetof(CUpti_ActivityMemory4, address));
static_assert(offsetof(MemoryRecord, timestamp) ==
              offsetof(CUpti_ActivityMemory4, timestamp));
static_assert(offsetof(MemoryRecord, device) ==
              offsetof(CUpti_ActivityMemory4, deviceId));
static_assert(offsetof(MemoryRecord, stream) ==
              offsetof(CUpti_ActivityMemory4, streamId));
static_assert(offsetof(MemoryRecord, is_async) ==
              offsetof(CUpti_ActivityMemory4, isAsync));
static_assert(offsetof(MemoryRecord, pool_type) ==
              offsetof(CUpti_ActivityMemory4, memoryPoolConfig));
static_assert(offsetof(MemoryRecord, pool_utilized) ==
              offsetof(CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize));
static_assert(offsetof(MemoryRecord, source) ==
              offsetof(CUpti_ActivityMemory4, source));
static_assert(sizeof(PoolRecord) == sizeof(CUpti_ActivityMemoryPool2));
static_assert(offsetof(PoolRecord, address) ==
              offsetof(CUpti_ActivityMemoryPool2, address));
static_assert(offsetof(PoolRecord, utilized) ==
              offsetof(CUpti_ActivityMemoryPool2, utilizedSize));
#endif

// A copy of the record with zeros where it is shorter than the newest layout.
template <typename Layout>
Layout CopyRecord(const CUpti_Activity* record, size_t size) {
  Layout copy{};
  std::memcpy(&copy, record, size < sizeof(Layout) ? size : sizeof(Layout));
  return copy;
}

void ReadMemoryRecord(const CUpti_Activity* record, size_t size,
                      bool read_source, DeviceLog& log) {
  if (size < kSmallestMemoryRecord) return log.CountUnreadable();
  const auto memory = CopyRecord<MemoryRecord>(record, size);
  DriverEvent event;
  switch (memory.operation) {
    case CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION:
      event.kind = DriverEventKind::kAlloc;
      break;
    case CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE:
      event.kind = DriverEventKind::kFree;
      break;
    default:
      return log.CountUnreadable();
  }
  event.time_ns = static_cast<int64_t>(memory.timestamp);
  event.memory_kind = static_cast<uint8_t>(memory.memory_kind);
  event.address = memory.address;
  event.bytes = memory.bytes;
  event.device = memory.device;
  event.context = memory.context;
  event.stream = memory.stream;
  event.correlation_id = memory.correlation_id;
  event.is_async = memory.is_async != 0;
  if (memory.pool_type != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) {
    event.pool_address = memory.pool_address;
  }
  // CUPTI knows only the address of a pool that another process made.
  if (memory.pool_type == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
    event.pool_bytes = memory.pool_size;
    event.pool_release_threshold_bytes = memory.pool_release_threshold;
    event.pool_utilized_bytes = memory.pool_utilized;
    event.has_pool_utilized = size >= offsetof(MemoryRecord, source);
  }
  if (read_source && size >= sizeof(MemoryRecord) && memory.source != nullptr) {
    event.text = log.Intern(memory.source);
  }
  log.Add(event);
}

void ReadPoolRecord(const CUpti_Activity* record, size_t size, DeviceLog& log) {
  if (size < kSmallestPoolRecord) return log.CountUnreadable();
  const auto pool = CopyRecord<PoolRecord>(record, size);
  if (pool.operation == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_INVALID ||
      pool.operation > CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED) {
    return log.CountUnreadable();
  }
  DriverEvent event;
  event.kind = DriverEventKind::kPool;
  event.pool_operation = static_cast<uint8_t>(pool.operation);
  event.time_ns = static_cast<int64_t>(pool.timestamp);
  event.address = pool.address;
  event.pool_address = pool.address;
  event.device = pool.device;
  event.correlation_id = pool.correlation_id;
  if (pool.pool_type == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
    event.bytes = pool.size;
    event.pool_bytes = pool.size;
    event.pool_release_threshold_bytes = pool.release_threshold;
    event.pool_utilized_bytes = pool.utilized;
    event.has_pool_utilized = size >= sizeof(PoolRecord);
  }
  log.Add(event);
}

}  // namespace

void ReadRecord(const CUpti_Activity* record, size_t size, bool read_source,
                DeviceLog& log) {
  if (size < sizeof(uint32_t)) return log.CountUnreadable();
  uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof(kind));
  if (kind == CUPTI_ACTIVITY_KIND_MEMORY2) {
    ReadMemoryRecord(record, size, read_source, log);
  } else if (kind == CUPTI_ACTIVITY_KIND_MEMORY_POOL) {
    ReadPoolRecord(record, size, log);
  }
}

void ReadBuffer(const NextRecord& next, uint8_t* buffer, size_t valid_bytes,
                bool read_source, DeviceLog& log) {
  if (buffer == nullptr || valid_bytes == 0) return;
  const uint8_t* const end = buffer + valid_bytes;
  CUpti_Activity* cursor = nullptr;
  CUptiResult result = next.function(next.self, buffer, valid_bytes, &cursor);
  while (result == CUPTI_SUCCESS) {
    CUpti_Activity* const record = cursor;
    result = next.function(next.self, buffer, valid_bytes, &cursor);
    // After the last record CUPTI says MAX_LIMIT_REACHED. Anything else means
    // that it met a record it does not know: where this one ends is not known.
    if (result != CUPTI_SUCCESS && result != CUPTI_ERROR_MAX_LIMIT_REACHED) {
      return log.CountUnreadable();
    }
    const auto* const begin = reinterpret_cast<const uint8_t*>(record);
    const uint8_t* const after = result == CUPTI_SUCCESS
                                     ? reinterpret_cast<const uint8_t*>(cursor)
                                     : end;
    if (begin < buffer || after <= begin || after > end) {
      return log.CountUnreadable();
    }
    ReadRecord(record, static_cast<size_t>(after - begin), read_source, log);
  }
  if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) log.CountUnreadable();
}

}  // namespace oom_forensics::cupti
