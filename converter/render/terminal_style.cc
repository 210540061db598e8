#include "converter/render/terminal_style.h"

#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"

namespace oom_forensics {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

TerminalStyle StyleFromEnvironment(bool is_terminal) {
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = absl::AsciiStrToLower(Variable(name));
  }
  const std::string terminal = Variable("TERM");
  TerminalStyle style;
  style.unicode =
      absl::StrContains(locale, "utf-8") || absl::StrContains(locale, "utf8");
  style.color = is_terminal && !terminal.empty() && terminal != "dumb" &&
                Variable("NO_COLOR").empty();
  return style;
}

}  // namespace oom_forensics
