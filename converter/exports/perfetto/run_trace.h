// A run as a Perfetto trace: for each host its training steps, and for each of
// its allocators
//
//   counters     in use, requested, reserved, limit, largest hole
//   instants     each OOM with its verdict, each failed probe
//   slices       the allocations, from birth to death
//
// What is too much to draw is cut, and the track says so: counters keep the
// lowest and the highest value of each stretch of events, and of the
// allocations the ones that held most for longest are kept.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_RUN_TRACE_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_RUN_TRACE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Limits for each allocator.
struct PerfettoLimits {
  // Stretches of events that a counter has values for.
  uint32_t counter_stretches = 50000;
  uint32_t allocations = 20000;
};

// A serialized perfetto.protos.Trace of the hosts and allocators that the
// query's filter keeps, in its range of time. The rest of the filter restricts
// the slices; counters are of whole allocators. Fails where the filter names
// what the run does not have.
absl::StatusOr<std::string> ExportPerfettoTrace(
    const Run& run, const Query& query, const PerfettoLimits& limits = {});

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_RUN_TRACE_H_
