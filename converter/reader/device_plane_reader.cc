#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "converter/reader/plane_reader.h"
#include "converter/text/text.h"
#include "converter/trace/allocator_trace_writer.h"

namespace oom_forensics {
namespace {

std::optional<DeviceEventKind> KindOf(std::string_view name) {
  if (name == schema::kDeviceAlloc) return DeviceEventKind::kAlloc;
  if (name == schema::kDeviceFree) return DeviceEventKind::kFree;
  if (name == schema::kDevicePool) return DeviceEventKind::kPool;
  if (name == schema::kDeviceSample) return DeviceEventKind::kSample;
  return std::nullopt;
}

// An XEventMetadata: its kind, and the stats that all its events share.
struct DeviceEventClass {
  std::optional<DeviceEventKind> kind;
  DeviceEvent base;
};

void TakeStats(const StatSet& stats, const PlaneVocabulary& vocabulary,
               ReadContext* context, DeviceEvent* event) {
  const auto text = [&](StatKind kind, StringId otherwise) {
    return stats.Has(kind) ? context->Intern(vocabulary.TextOf(stats.Get(kind)))
                           : otherwise;
  };
  event->memory_kind = text(StatKind::kMemoryKind, event->memory_kind);
  event->operation = text(StatKind::kOperation, event->operation);
  event->source = text(StatKind::kSource, event->source);
  event->reason = text(StatKind::kSampleReason, event->reason);
  event->others = text(StatKind::kOtherProcesses, event->others);
  event->pool_bytes = std::min(
      kMaxChunkBytes, stats.Uint64Or(StatKind::kPoolBytes, event->pool_bytes));
  if (stats.Has(StatKind::kAddress)) {
    event->address = stats.Get(StatKind::kAddress).AsAddress();
  }
  if (stats.Has(StatKind::kPool)) {
    event->pool = stats.Get(StatKind::kPool).AsAddress();
  }
  event->size_bytes = std::min(
      kMaxChunkBytes, stats.Uint64Or(StatKind::kSizeBytes, event->size_bytes));
  event->stream = stats.Uint64Or(StatKind::kStream, event->stream);
  event->utilized_bytes =
      stats.Uint64Or(StatKind::kUtilizedBytes, event->utilized_bytes);
  event->release_threshold_bytes = stats.Uint64Or(
      StatKind::kReleaseThresholdBytes, event->release_threshold_bytes);
  event->free_bytes = stats.Uint64Or(StatKind::kFreeBytes, event->free_bytes);
  event->total_bytes =
      stats.Uint64Or(StatKind::kTotalBytes, event->total_bytes);
  event->process_bytes =
      stats.Uint64Or(StatKind::kProcessBytes, event->process_bytes);
}

DeviceEventClass ReadClass(std::string_view metadata,
                           const PlaneVocabulary& vocabulary,
                           ReadContext* context) {
  DeviceEventClass event_class;
  StatSet stats;
  const bool whole = ForEachField(metadata, [&](FieldReader& reader) {
    switch (reader.tag()) {
      case schema::xevent_metadata::kName:
        event_class.kind = KindOf(View(reader.get_view()));
        break;
      case schema::xevent_metadata::kStats:
        ReadStat(View(reader.get_view()), vocabulary, &stats);
        break;
      default:
        reader.skip();
    }
  });
  if (!whole) {
    context->trace().quality.Add(QualityCounter::kMalformedMessages);
  }
  TakeStats(stats, vocabulary, context, &event_class.base);
  return event_class;
}

}  // namespace

absl::Status ReadDevicePlane(const PlaneLayout& plane, ReadContext* context) {
  const PlaneVocabulary vocabulary(plane, StatVocabulary::kCollector);
  QualityLog* quality = &context->trace().quality;
  const StatSet facts = ReadPlaneStats(plane, vocabulary, quality);
  const auto text = [&](StatKind kind) {
    return facts.Has(kind) ? context->Text(vocabulary.TextOf(facts.Get(kind)))
                           : std::string();
  };
  DeviceTrace device;
  device.name = context->Text(plane.name.substr(schema::kPlanePrefix.size()));
  device.device_name = text(StatKind::kDeviceName);
  device.pci_bus_id = text(StatKind::kPciBusId);
  device.mode = text(StatKind::kCuptiMode);
  device.reason = text(StatKind::kCuptiReason);
  device.clock_error_ns = facts.Uint64Or(StatKind::kClockErrorNs, 0);
  device.dropped_events = facts.Uint64Or(StatKind::kDroppedEvents, 0);
  device.dropped_by_cupti = facts.Uint64Or(StatKind::kDroppedByCupti, 0);
  device.unreadable_records = facts.Uint64Or(StatKind::kUnreadableRecords, 0);
  IdMap<DeviceEventClass> classes(plane.event_metadata.size());
  for (const auto& [id, metadata] : plane.event_metadata) {
    classes.Set(id, ReadClass(metadata, vocabulary, context));
  }
  for (const std::string_view line : plane.lines) {
    const LineHeader header = ReadLineHeader(line);
    const absl::Status fits = context->ReserveRows(header.event_count * 2);
    if (!fits.ok()) return fits;
    const int64_t start_ps = context->LineStartPs(header.timestamp_ns);
    ForEachEvent(line, vocabulary, EventsToRead::kAll, quality,
                 [&](const EventFields& fields, std::string_view) {
                   const DeviceEventClass& event_class =
                       classes.Get(fields.metadata_id);
                   if (!event_class.kind) {
                     quality->Add(QualityCounter::kUnknownEventKind);
                     return;
                   }
                   DeviceEvent event = event_class.base;
                   event.kind = *event_class.kind;
                   event.time_ps = std::clamp(
                       ReadContext::TimePs(start_ps, fields.offset_ps),
                       -kMaxTimePs, kMaxTimePs);
                   TakeStats(fields.stats, vocabulary, context, &event);
                   device.events.push_back(event);
                 });
  }
  std::stable_sort(device.events.begin(), device.events.end(),
                   [](const DeviceEvent& a, const DeviceEvent& b) {
                     return a.time_ps < b.time_ps;
                   });
  context->trace().devices.push_back(std::move(device));
  return absl::OkStatus();
}

}  // namespace oom_forensics
