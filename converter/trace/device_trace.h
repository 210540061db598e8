// The events of one CUDA device: memory as the driver sees it.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_DEVICE_TRACE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_DEVICE_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/trace/string_table.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

enum class DeviceEventKind : uint8_t { kAlloc, kFree, kPool, kSample };

// One event of a device plane; fields that its kind does not have are 0.
struct DeviceEvent {
  DeviceEventKind kind = DeviceEventKind::kSample;
  StringId memory_kind = kEmptyString;
  StringId operation = kEmptyString;
  // The library that asked.
  StringId source = kEmptyString;
  // kSample: why it was taken, and the other processes on the device, as
  // ToLines writes them.
  StringId reason = kEmptyString;
  StringId others = kEmptyString;
  int64_t time_ps = 0;
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  uint64_t pool = 0;
  // The size of that pool after the event; 0: not recorded.
  uint64_t pool_bytes = 0;
  uint64_t stream = 0;
  uint64_t utilized_bytes = 0;
  uint64_t release_threshold_bytes = 0;
  // kSample
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t process_bytes = 0;
};

struct DeviceTrace {
  // "cupti:0"
  std::string name;
  std::string device_name;
  // "0000:3b:00.0"; empty: not recorded.
  std::string pci_bus_id;
  // "tee", "own", "samples", "off", and why.
  std::string mode;
  std::string reason;
  uint64_t clock_error_ns = 0;
  uint64_t dropped_events = 0;
  uint64_t dropped_by_cupti = 0;
  uint64_t unreadable_records = 0;
  Source source = Source::COLLECTOR;
  // Sorted by time.
  std::vector<DeviceEvent> events;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_DEVICE_TRACE_H_
