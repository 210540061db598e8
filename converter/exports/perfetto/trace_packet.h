// Field numbers of Perfetto's trace packets (google/perfetto,
// protos/perfetto/trace), those that are written here.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_TRACE_PACKET_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_TRACE_PACKET_H_

#include <cstdint>
#include <protozero/types.hpp>

namespace oom_forensics::perfetto {

enum class Trace : protozero::pbf_tag_type { kPacket = 1 };

enum class TracePacket : protozero::pbf_tag_type {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kTrustedPacketSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kTrackDescriptor = 60,
};
inline constexpr uint32_t kIncrementalStateCleared = 1;
inline constexpr uint32_t kNeedsIncrementalState = 2;

enum class ClockSnapshot : protozero::pbf_tag_type { kClocks = 1 };
enum class Clock : protozero::pbf_tag_type { kClockId = 1, kTimestamp = 2 };
inline constexpr uint32_t kRealtimeClock = 1;
// The clock of packets that name none.
inline constexpr uint32_t kBoottimeClock = 6;

enum class TrackDescriptor : protozero::pbf_tag_type {
  kUuid = 1,
  kName = 2,
  kParentUuid = 5,
  kCounter = 8,
  kChildOrdering = 11,
  kSiblingOrderRank = 12,
  kDescription = 14,
};
inline constexpr int32_t kExplicitOrdering = 3;
enum class CounterDescriptor : protozero::pbf_tag_type { kUnit = 3 };
inline constexpr int32_t kUnitSizeBytes = 3;

enum class TrackEvent : protozero::pbf_tag_type {
  kDebugAnnotations = 4,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kCounterValue = 30,
};
inline constexpr int32_t kSliceBegin = 1;
inline constexpr int32_t kSliceEnd = 2;
inline constexpr int32_t kInstant = 3;
inline constexpr int32_t kCounter = 4;

enum class DebugAnnotation : protozero::pbf_tag_type {
  kNameIid = 1,
  kBoolValue = 2,
  kUintValue = 3,
  kIntValue = 4,
  kDoubleValue = 5,
  kPointerValue = 7,
  kStringValueIid = 17,
};

enum class InternedData : protozero::pbf_tag_type {
  kEventNames = 2,
  kDebugAnnotationNames = 3,
  kDebugAnnotationStringValues = 29,
};
// EventName, DebugAnnotationName and InternedString alike.
enum class InternedText : protozero::pbf_tag_type { kIid = 1, kText = 2 };

}  // namespace oom_forensics::perfetto

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_TRACE_PACKET_H_
