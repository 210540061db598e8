#include "converter/exports/html/escape.h"

#include "absl/strings/match.h"
#include "converter/text/text.h"

namespace oom_forensics {

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string EscapeCode(std::string_view code) {
  std::string escaped;
  escaped.reserve(code.size());
  for (size_t i = 0; i < code.size(); ++i) {
    escaped += code[i];
    if (code[i] != '<') continue;
    const std::string_view rest = code.substr(i + 1);
    for (const char* end : {"/script", "/style", "!--"}) {
      if (absl::StartsWithIgnoreCase(Absl(rest), end)) escaped += '\\';
    }
  }
  return escaped;
}

}  // namespace oom_forensics
