// DriverEvent: one thing that happened to the memory of a CUDA device, in the
// form in which the log keeps it until the trace is written. Plain and of fixed
// size; strings are ids of the DeviceLog that holds the event.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_DRIVER_EVENT_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_DRIVER_EVENT_H_

#include <cstdint>

namespace oom_forensics::cupti {

enum class DriverEventKind : uint8_t {
  kAlloc,   // CUPTI MEMORY2, operation ALLOCATION
  kFree,    // CUPTI MEMORY2, operation RELEASE
  kPool,    // CUPTI MEMORY_POOL
  kSample,  // free and total memory as the driver or NVML answered
};

// Which clock a time stamp was taken from.
enum class TimeBase : uint8_t {
  kCollector,  // CLOCK_REALTIME, nanoseconds since the epoch
  kCupti,      // cuptiGetTimestamp, nanoseconds; converted by ClockConverter
};

// Id of a string in the DeviceLog; 0: none.
using StringId = uint32_t;

// CUPTI gives no stream for an operation that is not ordered by one.
inline constexpr uint32_t kNoStream = 0xFFFFFFFF;

struct DriverEvent {
  // kAlloc, kFree: the block. kPool: the pool's address.
  uint64_t address = 0;
  // kAlloc, kFree: the block's size. kPool: the pool's size.
  uint64_t bytes = 0;
  int64_t time_ns = 0;
  // The memory pool that an asynchronous operation used; 0: none.
  uint64_t pool_address = 0;
  uint64_t pool_bytes = 0;
  uint64_t pool_utilized_bytes = 0;
  uint64_t pool_release_threshold_bytes = 0;
  // kSample.
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  // kSample: what this process holds on the device, all of it; 0: unknown.
  uint64_t process_bytes = 0;
  // kSample: the other processes on the device, as ToLines writes them; 0: not
  // known.
  StringId others = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = kNoStream;
  uint32_t correlation_id = 0;
  // kAlloc, kFree: the library that asked (CUPTI 12.6 and later, opt-in).
  // kSample: why it was taken.
  StringId text = 0;
  DriverEventKind kind = DriverEventKind::kAlloc;
  TimeBase time_base = TimeBase::kCupti;
  // kAlloc, kFree: CUpti_ActivityMemoryKind.
  uint8_t memory_kind = 0;
  // kPool: CUpti_ActivityMemoryPoolOperationType.
  uint8_t pool_operation = 0;
  bool is_async = false;
  // The record was long enough to hold pool_utilized_bytes.
  bool has_pool_utilized = false;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_DRIVER_EVENT_H_
