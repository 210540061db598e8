#include "collector/cupti/device_plane_writer.h"

#include <cupti.h>

#include <algorithm>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "core/line_builder.h"
#include "core/plane_builder.h"
#include "proto/event_schema.h"

namespace oom_forensics::cupti {
namespace {

using protozero::pbf_writer;
namespace xplane = schema::xplane;
namespace xevent = schema::xevent;

std::string_view NameOf(DriverEventKind kind) {
  switch (kind) {
    case DriverEventKind::kAlloc:
      return schema::kDeviceAlloc;
    case DriverEventKind::kFree:
      return schema::kDeviceFree;
    case DriverEventKind::kPool:
      return schema::kDevicePool;
    case DriverEventKind::kSample:
      return schema::kDeviceSample;
  }
  return {};
}

// As TensorFlow's own GPU traces call them.
std::string_view MemoryKindName(uint8_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return "pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return "pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
      return "device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return "array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
      return "managed";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return "device_static";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return "managed_static";
    default:
      return "unknown";
  }
}

std::string_view PoolOperationName(uint8_t operation) {
  switch (operation) {
    case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED:
      return "created";
    case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED:
      return "destroyed";
    case CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED:
      return "trimmed";
    default:
      return "unknown";
  }
}

// An event and its time on the collector's clock.
using TimedEvent = std::pair<int64_t, const DriverEvent*>;

// The plane of one device.
class PlaneWriter {
 public:
  PlaneWriter(uint32_t device, const DeviceLog::Contents& contents,
              const DeviceFacts& facts, std::string* space)
      : contents_(contents),
        facts_(facts),
        device_name_(facts.name_of(static_cast<int>(device))),
        pci_bus_id_(facts.pci_bus_id_of(static_cast<int>(device))),
        plane_(space, std::string(schema::kCuptiPlanePrefix) +
                          std::to_string(device)) {}

  void Write(const std::vector<TimedEvent>& events, int64_t start_ns) {
    WriteFacts();
    WriteEvents(events, start_ns);
    plane_.Finish();
  }

 private:
  void WriteFacts() {
    pbf_writer* plane = plane_.plane();
    constexpr uint32_t kField = xplane::kStats;
    plane_.AddString(plane, kField, schema::kCuptiMode, facts_.mode);
    plane_.AddString(plane, kField, schema::kCuptiReason, facts_.reason);
    if (!device_name_.empty()) {
      plane_.AddString(plane, kField, schema::kDeviceName, device_name_);
    }
    if (!pci_bus_id_.empty()) {
      plane_.AddString(plane, kField, schema::kPciBusId, pci_bus_id_);
    }
    if (facts_.cupti_version != 0) {
      plane_.AddUint(plane, kField, schema::kCuptiVersion,
                     facts_.cupti_version);
    }
    if (facts_.clock.calibrated()) {
      plane_.AddUint(plane, kField, schema::kClockErrorNs,
                     static_cast<uint64_t>(facts_.clock.error_ns()));
    }
    plane_.AddUint(plane, kField, schema::kDroppedEvents,
                   contents_.dropped_events);
    plane_.AddUint(plane, kField, schema::kDroppedByCupti,
                   contents_.dropped_by_cupti);
    plane_.AddUint(plane, kField, schema::kUnreadableRecords,
                   contents_.unreadable_records);
  }

  void WriteEvents(const std::vector<TimedEvent>& events, int64_t start_ns) {
    LineBuilder line(plane_.plane(), 1, schema::kEventsLine, start_ns);
    event_ = line.event();
    for (const auto& [time_ns, event] : events) {
      line.BeginEvent(MetadataId(event->kind), (time_ns - start_ns) * 1000);
      AddStats(*event);
      line.EndEvent();
    }
  }

  void AddStats(const DriverEvent& event) {
    switch (event.kind) {
      case DriverEventKind::kAlloc:
      case DriverEventKind::kFree:
        AddBlock(event);
        break;
      case DriverEventKind::kPool:
        AddRef(schema::kOperation, PoolOperationName(event.pool_operation));
        AddAddress(schema::kAddress, event.address);
        Add(schema::kCorrelationId, event.correlation_id);
        AddPool(event);
        break;
      case DriverEventKind::kSample:
        Add(schema::kFreeBytes, event.free_bytes);
        Add(schema::kTotalBytes, event.total_bytes);
        if (event.process_bytes != 0) {
          Add(schema::kProcessBytes, event.process_bytes);
        }
        AddText(schema::kOtherProcesses, event.others);
        AddText(schema::kSampleReason, event.text);
        break;
    }
  }

  void AddBlock(const DriverEvent& event) {
    AddAddress(schema::kAddress, event.address);
    Add(schema::kSizeBytes, event.bytes);
    AddRef(schema::kMemoryKind, MemoryKindName(event.memory_kind));
    Add(schema::kCorrelationId, event.correlation_id);
    if (event.stream != kNoStream) Add(schema::kStream, event.stream);
    if (event.is_async) Add(schema::kAsync, 1);
    if (event.pool_address != 0) AddPool(event);
    AddText(schema::kSource, event.text);
  }

  void AddPool(const DriverEvent& event) {
    AddAddress(schema::kPool, event.pool_address);
    if (event.pool_bytes == 0) return;
    Add(schema::kPoolBytes, event.pool_bytes);
    Add(schema::kReleaseThresholdBytes, event.pool_release_threshold_bytes);
    if (event.has_pool_utilized) {
      Add(schema::kUtilizedBytes, event.pool_utilized_bytes);
    }
  }

  void Add(std::string_view name, uint64_t value) {
    plane_.AddUint(event_, xevent::kStats, name, value);
  }

  void AddAddress(std::string_view name, uint64_t address) {
    Add(name, address - facts_.address_shift);
  }

  void AddRef(std::string_view name, std::string_view value) {
    plane_.AddRef(event_, xevent::kStats, name, value);
  }

  void AddText(std::string_view name, StringId text) {
    if (text == 0 || text > contents_.strings.size()) return;
    AddRef(name, contents_.strings[text - 1]);
  }

  int64_t MetadataId(DriverEventKind kind) {
    const auto [found, is_new] = metadata_ids_.emplace(kind, 0);
    if (is_new) {
      std::string fields;
      pbf_writer writer(fields);
      writer.add_string(schema::xevent_metadata::kName, View(NameOf(kind)));
      found->second = plane_.AddEventMetadata(fields);
    }
    return found->second;
  }

  const DeviceLog::Contents& contents_;
  const DeviceFacts& facts_;
  const std::string device_name_;
  const std::string pci_bus_id_;
  PlaneBuilder plane_;
  std::map<DriverEventKind, int64_t> metadata_ids_;
  // The event in the making.
  pbf_writer* event_ = nullptr;
};

}  // namespace

std::string WriteDevicePlanes(const DeviceLog::Contents& contents,
                              const DeviceFacts& facts, int64_t start_ns) {
  std::map<uint32_t, std::vector<TimedEvent>> by_device;
  for (const DriverEvent& event : contents.events) {
    int64_t time_ns = event.time_ns;
    if (event.time_base == TimeBase::kCupti) {
      time_ns = facts.clock.ToCollector(time_ns);
    }
    by_device[event.device].emplace_back(std::max(time_ns, start_ns), &event);
  }
  std::string planes;
  for (auto& [device, events] : by_device) {
    std::stable_sort(events.begin(), events.end(),
                     [](const TimedEvent& a, const TimedEvent& b) {
                       return a.first < b.first;
                     });
    PlaneWriter(device, contents, facts, &planes).Write(events, start_ns);
  }
  return planes;
}

}  // namespace oom_forensics::cupti
