// The counters of an allocator, for Perfetto.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_USAGE_COUNTERS_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_USAGE_COUNTERS_H_

#include <cstdint>

#include "converter/datasets/selection.h"
#include "converter/exports/perfetto/track_event_writer.h"

namespace oom_forensics {

// Positions of an allocator, both included.
struct PositionRange {
  Position begin = 0;
  Position end = 0;
};

// Adds a track for each counter below `parent`: all changes in the range where
// there are at most `stretches` events, else the first, lowest and highest
// value of each of so many stretches.
void AddUsageCounters(const SelectedAllocator& allocator, PositionRange range,
                      uint32_t stretches, TrackId parent,
                      TrackEventWriter* writer);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_USAGE_COUNTERS_H_
