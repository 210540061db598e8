#include "converter/command/recover.h"

#include <iostream>
#include <optional>
#include <vector>

#include "absl/strings/str_split.h"
#include "converter/black_box/boxes.h"
#include "converter/command/commands.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

void Say(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences) {
    std::cerr << "oom-forensics: " << sentence << "\n";
  }
}

bool ParseStatus(std::string_view text, std::optional<WaitStatus>* status) {
  const std::vector<std::string> parts = absl::StrSplit(Absl(text), ':');
  WaitStatus parsed;
  if (parts.size() != 3 ||
      !ParseInteger(std::string_view(parts[0]), &parsed.process_id) ||
      !ParseInteger(std::string_view(parts[1]), &parsed.signal) ||
      !ParseInteger(std::string_view(parts[2]), &parsed.exit_code)) {
    return false;
  }
  *status = parsed;
  return true;
}

}  // namespace

int Recover(const std::string& logdir, const std::string& ended) {
  std::optional<WaitStatus> status;
  if (!ended.empty() && !ParseStatus(ended, &status)) {
    Say({"--ended is PROCESS:SIGNAL:EXIT_CODE, as 1234:9:0."});
    return kExitUsage;
  }
  const OpenedBoxes opened = OpenBoxes(logdir, status);
  for (const std::string& run : opened.runs) std::cout << run << "\n";
  Say(opened.problems);
  Say(opened.in_use);
  return kExitDone;
}

void RecoverQuietly(const std::string& path) {
  Say(OpenBoxes(path, std::nullopt).problems);
}

}  // namespace oom_forensics
