#include "converter/reader/wire.h"

namespace oom_forensics {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes of the UTF-8 sequence that `text` begins with; 0: it begins with none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  size_t length = 0;
  if (lead >= 0xC2 && lead <= 0xDF) length = 2;
  if (lead >= 0xE0 && lead <= 0xEF) length = 3;
  if (lead >= 0xF0 && lead <= 0xF4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, beyond U+10FFFF.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace

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
        length == 0 ? kReplacement : text.substr(0, length);
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
