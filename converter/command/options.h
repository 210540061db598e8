// The command line's flags.
#ifndef OOM_FORENSICS_CONVERTER_COMMAND_OPTIONS_H_
#define OOM_FORENSICS_CONVERTER_COMMAND_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/datasets.pb.h"
#include "proto/service.pb.h"

namespace oom_forensics {

enum class OutputFormat { kText, kJson, kProtobuf, kCsv };

struct Options {
  std::string command;
  // PATH, and where the command takes it PATH2.
  std::vector<std::string> paths;
  std::string run;
  bool allow_truncated = false;
  uint64_t max_memory_mb = 0;
  Query query;
  OutputFormat format = OutputFormat::kText;
  // Empty: standard output.
  std::string output;
  // What makes the exit code 3: "oom", ...
  std::vector<std::string> fail_on;
};

// `arguments` without the program's name. Fails with a sentence for the user.
absl::StatusOr<Options> ParseOptions(const std::vector<std::string>& arguments);

// What --help prints.
std::string UsageText();

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMMAND_OPTIONS_H_
