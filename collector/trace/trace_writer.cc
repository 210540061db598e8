#include "collector/trace/trace_writer.h"

#include <unistd.h>

#include <algorithm>
#include <protozero/pbf_writer.hpp>
#include <set>

#include "collector/trace/allocator_plane.h"
#include "collector/version.h"
#include "core/plane_builder.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

using protozero::pbf_writer;
namespace xplane = schema::xplane;

// Bytes of a live allocation in the trace.
constexpr size_t kUsualBytesPerEvent = 40;

void WriteSessionPlane(const SessionFacts& session, const Recording& recording,
                       std::string* space) {
  PlaneBuilder builder(space, schema::kSessionPlane);
  pbf_writer* plane = builder.plane();
  constexpr uint32_t kField = xplane::kStats;
  builder.AddUint(plane, kField, schema::kVersion, schema::kSchemaVersion);
  builder.AddString(plane, kField, schema::kCollectorVersion,
                    kCollectorVersion);
  builder.AddString(plane, kField, schema::kTensorFlowVersion,
                    session.tensorflow_version);
  builder.AddUint(plane, kField, schema::kProcessId,
                  static_cast<uint64_t>(getpid()));
  builder.AddUint(plane, kField, schema::kStartNs,
                  static_cast<uint64_t>(recording.baseline.time_ns));
  builder.AddUint(plane, kField, schema::kStopNs,
                  static_cast<uint64_t>(recording.stop_ns));
  builder.AddString(plane, kField, schema::kOrigin, session.origin);
  builder.AddString(plane, kField, schema::kHooks, session.hooks);
  builder.AddString(plane, kField, schema::kAttribution, session.attribution);
  builder.AddString(plane, kField, schema::kCuptiMode, session.cupti_mode);
  builder.AddString(plane, kField, schema::kCuptiReason, session.cupti_reason);
  builder.AddUint(plane, kField, schema::kBufferEvents, session.buffer_events);
  builder.AddString(plane, kField, schema::kEnvironment, session.environment);
  if (session.unnamed_allocations != 0) {
    builder.AddUint(plane, kField, schema::kUnnamedAllocations,
                    session.unnamed_allocations);
  }
  if (session.unknown_allocator_requests != 0) {
    builder.AddUint(plane, kField, schema::kUnknownAllocatorRequests,
                    session.unknown_allocator_requests);
  }
  if (session.failed_library.has_value()) {
    const OutsidePool& device = session.failed_library->device;
    builder.AddString(plane, kField, schema::kLibraryError,
                      session.failed_library->error);
    builder.AddUint(plane, kField, schema::kTotalBytes,
                    device.device.total_bytes);
    builder.AddUint(plane, kField, schema::kFreeBytes,
                    device.device.free_bytes);
    builder.AddUint(plane, kField, schema::kProcessBytes,
                    device.device.process_bytes);
    if (!device.device.others.empty()) {
      builder.AddString(plane, kField, schema::kOtherProcesses,
                        ToLines(device.device.others));
    }
    builder.AddUint(plane, kField, schema::kPoolsBytes, device.pools_bytes);
    builder.AddUint(plane, kField, schema::kPoolsInUseBytes,
                    device.pools_in_use_bytes);
  }
  builder.AddDouble(plane, kField, schema::kSamplingRate,
                    session.sampling_rate);
  builder.AddUint(plane, kField, schema::kMinBytes, session.min_bytes);
  builder.AddUint(plane, kField, schema::kAnonymized,
                  session.anonymize_addresses ? 1 : 0);
  builder.Finish();
}

}  // namespace

uint64_t AddressShift(const SessionFacts& session, const Recording& recording) {
  if (!session.anonymize_addresses) return 0;
  // The lowest address becomes kLowest: the map keeps its form and loses its
  // place in the process.
  constexpr uint64_t kLowest = uint64_t{1} << 32;
  constexpr uint64_t kPage = 4096;
  uint64_t lowest = UINT64_MAX;
  const auto look_at = [&](uint64_t address) {
    if (address != 0) lowest = std::min(lowest, address);
  };
  for (const Region& region : recording.baseline.regions) {
    look_at(region.address);
  }
  for (const LiveAllocation& allocation : recording.baseline.allocations) {
    look_at(allocation.address);
  }
  recording.ForEachEvent([&](const Event& event) {
    if (event.kind != RecordedKind::kStepBegin) look_at(event.address);
  });
  return lowest == UINT64_MAX ? 0 : lowest / kPage * kPage - kLowest;
}

std::string WriteTrace(const SessionFacts& session,
                       const std::vector<AllocatorInfo>& allocators,
                       const Recording& recording,
                       const std::vector<const Site*>& sites,
                       const std::vector<const StackFrames*>& stacks) {
  std::string trace;
  // What is not used of it costs no memory.
  trace.reserve(kUsualBytesPerEvent * recording.baseline.allocations.size());
  if (session.writes_own_file) {
    WriteTaskEnvironment(recording.baseline.time_ns, recording.stop_ns, &trace);
  }
  WriteSessionPlane(session, recording, &trace);
  std::set<StackId> used_stacks;
  for (const AllocatorInfo& info : allocators) {
    WriteAllocatorPlane(session, info, recording, sites, &used_stacks, &trace);
  }
  WriteSourcePlane(session.source, stacks, used_stacks, &trace);
  return trace;
}

}  // namespace oom_forensics::collector
