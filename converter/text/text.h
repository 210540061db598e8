// Helpers for std::string_view. (The system's Abseil is built with a string
// view of its own, which std::string_view does not convert to.)
#ifndef OOM_FORENSICS_CONVERTER_TEXT_TEXT_H_
#define OOM_FORENSICS_CONVERTER_TEXT_TEXT_H_

#include <charconv>
#include <string_view>

#include "absl/strings/string_view.h"

namespace oom_forensics {

inline absl::string_view Absl(std::string_view text) {
  return {text.data(), text.size()};
}

inline bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

inline bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() &&
         text.substr(text.size() - suffix.size()) == suffix;
}

// Removes `prefix` from the front of `text`, if it is there.
inline bool ConsumePrefix(std::string_view* text, std::string_view prefix) {
  if (!StartsWith(*text, prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

inline bool ConsumeSuffix(std::string_view* text, std::string_view suffix) {
  if (!EndsWith(*text, suffix)) return false;
  text->remove_suffix(suffix.size());
  return true;
}

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The whole of `text` as a number; false where it is none or out of range.
template <typename Integer>
bool ParseInteger(std::string_view text, Integer* value, int base = 10) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, *value, base);
  return error == std::errc() && rest == end;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TEXT_TEXT_H_
