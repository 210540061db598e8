// The story of a run in plain text, for a terminal: of its OOMs, or where it
// has none, of its peaks; and of what it leaks.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_REPORT_H_
#define OOM_FORENSICS_CONVERTER_RENDER_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/datasets.pb.h"

namespace oom_forensics {

// The answers that a report tells of.
struct ReportParts {
  Info info;
  OomWindow window;
  // For each OOM of the window its picture (DrawLayout); OOMs beyond its end
  // have none.
  std::vector<std::string> layouts;
  // An allocator's live set at its peak, by op and by line; and what keeps what
  // was live in the end, where a snapshot looked for it.
  struct Peak {
    std::string allocator;
    Allocations live;
    Allocations lines;
    google::protobuf::RepeatedPtrField<Keeper> keepers;
  };
  // Filled for a run without an OOM.
  std::vector<Peak> peaks;
  Leaks leaks;
  Forecasts forecasts;
  HostMemory host_memory;
};

// All of it, after the opening.
std::string RenderReport(const std::string& run_name, const ReportParts& parts);

// INFO alone: what is in the run, and what is missing.
std::string RenderInfo(const std::string& run_name, const Info& info);

// Nanoseconds since the epoch as "2026-11-20 12:39:01.123456 UTC".
std::string FormatTime(int64_t time_ns);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_REPORT_H_
