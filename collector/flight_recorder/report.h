// The structured report of an out-of-memory or a snapshot: JSON by
// proto/oom_report.schema.json.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_REPORT_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collector/flight_recorder/memory_story.h"
#include "collector/settings.h"
#include "collector/trace/trace_writer.h"

namespace oom_forensics::collector {

// "2026-11-20T13:22:02.123456789Z"
std::string IsoTime(int64_t time_ns);

// `number` counts the out-of-memories of the process, from 1; `trace_path` is
// where the trace of the same moment lies, empty if nowhere. `evidence` says
// what came of asking Python; empty: it is not for this report to say.
std::string WriteReport(const MemoryStory& story, const SessionFacts& session,
                        const Settings& settings, uint64_t number,
                        const std::vector<std::string>& summary,
                        const std::string& host, const std::string& trace_path,
                        const std::string& evidence);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_REPORT_H_
