#include "converter/reader/wire.h"

#include "core/utf8.h"

namespace oom_forensics {

bool IsCleanText(std::string_view text) {
  if (text.size() > kMaxTextBytes) return false;
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

std::string SanitizedText(std::string_view text, bool* shortened) {
  std::string clean;
  clean.reserve(text.size() < kMaxTextBytes ? text.size() : kMaxTextBytes);
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view next =
        length == 0 ? kReplacementCharacter : text.substr(0, length);
    if (clean.size() + next.size() > kMaxTextBytes) {
      *shortened = true;
      break;
    }
    clean.append(next);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

}  // namespace oom_forensics
