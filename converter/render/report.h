// The story of a run's OOMs in plain text, for a terminal.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_REPORT_H_
#define OOM_FORENSICS_CONVERTER_RENDER_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/datasets.pb.h"

namespace oom_forensics {

// Of the answers to INFO and OOM_WINDOW. `layouts`: for each OOM of the window
// its picture (DrawLayout); OOMs beyond its end have none.
std::string RenderReport(const std::string& run_name, const Info& info,
                         const OomWindow& window,
                         const std::vector<std::string>& layouts);

// INFO alone: what is in the run, and what is missing.
std::string RenderInfo(const std::string& run_name, const Info& info);

// Nanoseconds since the epoch as "2026-11-20 12:39:01.123456 UTC".
std::string FormatTime(int64_t time_ns);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_REPORT_H_
