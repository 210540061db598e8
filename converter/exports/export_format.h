// Exports: a run in the format of another tool. To add one: write a folder with
// a function like the others', and add its line to export_format.cc.
#ifndef OOM_FORENSICS_CONVERTER_EXPORTS_EXPORT_FORMAT_H_
#define OOM_FORENSICS_CONVERTER_EXPORTS_EXPORT_FORMAT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

struct ExportFormat {
  // As on the command line, --format=pprof.
  std::string_view name;
  // The file's bytes. Fails where the query makes no sense for the run, with a
  // sentence for the user.
  absl::StatusOr<std::string> (*write)(const Run& run, const Query& query);
  // Not text that a terminal could show.
  bool binary = true;
};

// Null where there is no such format.
const ExportFormat* FindExportFormat(std::string_view name);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_EXPORTS_EXPORT_FORMAT_H_
