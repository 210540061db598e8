#include "converter/exports/perfetto/track_event_writer.h"

#include <algorithm>
#include <protozero/pbf_builder.hpp>
#include <utility>

#include "converter/exports/perfetto/trace_packet.h"

namespace oom_forensics {
namespace {

using namespace perfetto;  // NOLINT: the messages' fields.

template <typename Tag>
using Builder = protozero::pbf_builder<Tag>;

// All packets are of one writer.
constexpr uint32_t kSequenceId = 1;

void AddText(Builder<TrackDescriptor>* track, TrackDescriptor tag,
             std::string_view text) {
  if (!text.empty()) track->add_bytes(tag, text.data(), text.size());
}

// A time before the epoch cannot be written; it is the epoch.
uint64_t Timestamp(int64_t time_ns) {
  return static_cast<uint64_t>(std::max<int64_t>(0, time_ns));
}

void AddHead(Builder<TracePacket>* packet, int64_t time_ns) {
  packet->add_uint64(TracePacket::kTimestamp, Timestamp(time_ns));
  packet->add_uint32(TracePacket::kTrustedPacketSequenceId, kSequenceId);
  packet->add_uint32(TracePacket::kSequenceFlags, kNeedsIncrementalState);
}

}  // namespace

uint64_t TrackEventWriter::Interned::IdOf(std::string_view text) {
  const auto [found, added] =
      ids.try_emplace(std::string(text), ids.size() + 1);
  if (added) fresh.emplace_back(found->second, text);
  return found->second;
}

TrackEventWriter::TrackEventWriter(int64_t start_ns) {
  Builder<Trace> trace(trace_);
  Builder<TracePacket> packet(trace, Trace::kPacket);
  packet.add_uint32(TracePacket::kTrustedPacketSequenceId, kSequenceId);
  packet.add_uint32(TracePacket::kSequenceFlags, kIncrementalStateCleared);
  Builder<ClockSnapshot> snapshot(packet, TracePacket::kClockSnapshot);
  for (const uint32_t clock_id : {kRealtimeClock, kBoottimeClock}) {
    Builder<Clock> clock(snapshot, ClockSnapshot::kClocks);
    clock.add_uint32(Clock::kClockId, clock_id);
    clock.add_uint64(Clock::kTimestamp, Timestamp(start_ns));
  }
}

TrackId TrackEventWriter::DescribeTrack(TrackId parent, std::string_view name,
                                        std::string_view description,
                                        bool counts_bytes) {
  const TrackId id = ++last_track_;
  Builder<Trace> trace(trace_);
  Builder<TracePacket> packet(trace, Trace::kPacket);
  packet.add_uint32(TracePacket::kTrustedPacketSequenceId, kSequenceId);
  Builder<TrackDescriptor> track(packet, TracePacket::kTrackDescriptor);
  track.add_uint64(TrackDescriptor::kUuid, id);
  if (parent != kNoTrack) {
    track.add_uint64(TrackDescriptor::kParentUuid, parent);
  }
  AddText(&track, TrackDescriptor::kName, name);
  AddText(&track, TrackDescriptor::kDescription, description);
  track.add_enum(TrackDescriptor::kChildOrdering, kExplicitOrdering);
  track.add_int32(TrackDescriptor::kSiblingOrderRank, static_cast<int32_t>(id));
  if (counts_bytes) {
    Builder<CounterDescriptor> counter(track, TrackDescriptor::kCounter);
    counter.add_enum(CounterDescriptor::kUnit, kUnitSizeBytes);
  }
  return id;
}

TrackId TrackEventWriter::AddTrack(TrackId parent, std::string_view name,
                                   std::string_view description) {
  return DescribeTrack(parent, name, description, /*counts_bytes=*/false);
}

TrackId TrackEventWriter::AddCounterTrack(TrackId parent, std::string_view name,
                                          std::string_view description) {
  return DescribeTrack(parent, name, description, /*counts_bytes=*/true);
}

void TrackEventWriter::AddCounter(TrackId track, int64_t time_ns,
                                  uint64_t bytes) {
  Builder<Trace> trace(trace_);
  Builder<TracePacket> packet(trace, Trace::kPacket);
  AddHead(&packet, time_ns);
  Builder<TrackEvent> event(packet, TracePacket::kTrackEvent);
  event.add_enum(TrackEvent::kType, kCounter);
  event.add_uint64(TrackEvent::kTrackUuid, track);
  event.add_int64(TrackEvent::kCounterValue, static_cast<int64_t>(bytes));
}

void TrackEventWriter::AddSlice(TrackId track, int64_t begin_ns, int64_t end_ns,
                                std::string_view name,
                                const TrackEventArgs& args) {
  AddNamedEvent(track, begin_ns, kSliceBegin, name, args);
  Builder<Trace> trace(trace_);
  Builder<TracePacket> packet(trace, Trace::kPacket);
  AddHead(&packet, end_ns);
  Builder<TrackEvent> event(packet, TracePacket::kTrackEvent);
  event.add_enum(TrackEvent::kType, kSliceEnd);
  event.add_uint64(TrackEvent::kTrackUuid, track);
}

void TrackEventWriter::AddInstant(TrackId track, int64_t time_ns,
                                  std::string_view name,
                                  const TrackEventArgs& args) {
  AddNamedEvent(track, time_ns, kInstant, name, args);
}

void TrackEventWriter::AddNamedEvent(TrackId track, int64_t time_ns,
                                     int32_t type, std::string_view name,
                                     const TrackEventArgs& args) {
  Builder<Trace> trace(trace_);
  Builder<TracePacket> packet(trace, Trace::kPacket);
  AddHead(&packet, time_ns);
  {
    Builder<TrackEvent> event(packet, TracePacket::kTrackEvent);
    event.add_enum(TrackEvent::kType, type);
    event.add_uint64(TrackEvent::kTrackUuid, track);
    event.add_uint64(TrackEvent::kNameIid, event_names_.IdOf(name));
    for (const TrackEventArg& arg : args) {
      Builder<DebugAnnotation> field(event, TrackEvent::kDebugAnnotations);
      field.add_uint64(DebugAnnotation::kNameIid, arg_names_.IdOf(arg.name));
      if (const auto* text = std::get_if<std::string_view>(&arg.value)) {
        field.add_uint64(DebugAnnotation::kStringValueIid,
                         arg_texts_.IdOf(*text));
      } else if (const auto* integer = std::get_if<int64_t>(&arg.value)) {
        field.add_int64(DebugAnnotation::kIntValue, *integer);
      } else if (const auto* number = std::get_if<uint64_t>(&arg.value)) {
        field.add_uint64(DebugAnnotation::kUintValue, *number);
      } else if (const auto* real = std::get_if<double>(&arg.value)) {
        field.add_double(DebugAnnotation::kDoubleValue, *real);
      } else if (const auto* flag = std::get_if<bool>(&arg.value)) {
        field.add_bool(DebugAnnotation::kBoolValue, *flag);
      } else {
        field.add_uint64(DebugAnnotation::kPointerValue,
                         std::get<TrackEventArg::Pointer>(arg.value).address);
      }
    }
  }
  if (event_names_.fresh.empty() && arg_names_.fresh.empty() &&
      arg_texts_.fresh.empty()) {
    return;
  }
  Builder<InternedData> interned(packet, TracePacket::kInternedData);
  const auto flush = [&interned](Interned* texts, InternedData tag) {
    for (const auto& [id, text] : texts->fresh) {
      Builder<InternedText> entry(interned, tag);
      entry.add_uint64(InternedText::kIid, id);
      entry.add_bytes(InternedText::kText, text.data(), text.size());
    }
    texts->fresh.clear();
  };
  flush(&event_names_, InternedData::kEventNames);
  flush(&arg_names_, InternedData::kDebugAnnotationNames);
  flush(&arg_texts_, InternedData::kDebugAnnotationStringValues);
}

}  // namespace oom_forensics
