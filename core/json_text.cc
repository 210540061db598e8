#include "core/json_text.h"

#include <cstdio>

#include "core/utf8.h"

namespace oom_forensics {

std::string QuoteJson(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : ValidUtf8(text)) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (code < 0x20 || c == '<') {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", unsigned{code});
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

}  // namespace oom_forensics
