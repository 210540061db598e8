#include "converter/exports/export_format.h"

#include "converter/exports/folded/live_set_stacks.h"
#include "converter/exports/perfetto/run_trace.h"
#include "converter/exports/pprof/live_set_profile.h"

namespace oom_forensics {
namespace {

constexpr ExportFormat kFormats[] = {
    {"pprof", ExportLiveSetProfile},
    {"folded", ExportFoldedStacks, /*binary=*/false},
    {"perfetto",
     [](const Run& run, const Query& query) {
       return ExportPerfettoTrace(run, query);
     }},
};

}  // namespace

const ExportFormat* FindExportFormat(std::string_view name) {
  for (const ExportFormat& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace oom_forensics
