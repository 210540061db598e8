// OOMs and failed probes as instants, for Perfetto.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_FAILURE_INSTANTS_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_FAILURE_INSTANTS_H_

#include "converter/datasets/selection.h"
#include "converter/exports/perfetto/track_event_writer.h"

namespace oom_forensics {

// Adds the failed requests of the allocator in `range` on a track below
// `parent`, where there are any; an OOM (of `ooms`, the run's OOM_WINDOW) with
// its verdict, evidence and remedies.
void AddFailureInstants(const SelectedAllocator& allocator,
                        const OomWindow& ooms, const NsRange& range,
                        TrackId parent, TrackEventWriter* writer);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_PERFETTO_FAILURE_INSTANTS_H_
