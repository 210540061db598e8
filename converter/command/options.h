// The command line.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_OPTIONS_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "converter/exports/export_format.h"
#include "proto/datasets.pb.h"
#include "proto/service.pb.h"

namespace oom_forensics {

enum class OutputFormat { kText, kJson, kProtobuf, kCsv };

struct Options {
  // Not empty: what --help, --version and completion print; the rest is unset.
  std::string answer;
  std::string command;
  std::string path;
  std::string run;
  // For COMPARE, the second trace; empty: another moment of the same one.
  std::string other_path;
  std::string other_run;
  // report: everything, not only the opening.
  bool full = false;
  // recover: how a process ended; empty: nobody waited for one.
  std::string ended;
  bool allow_truncated = false;
  uint64_t max_memory_mb = 0;
  Query query;
  OutputFormat format = OutputFormat::kText;
  // Not null: the format of another tool, instead of `format`.
  const ExportFormat* export_format = nullptr;
  // Where html takes the tab's files from; empty: beside the program.
  std::string frontend_dir;
  // Empty: standard output.
  std::string output;
  // What makes the exit code 3: "oom", ...
  std::vector<std::string> fail_on;
};

// `arguments` without the program's name. A flag that does not apply to the
// command is an error. Fails with a sentence for the user.
absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_OPTIONS_H_
