// Whether text is UTF-8, which protobuf's strings and JSON must be: a reader
// stops at a string that is not, and loses all that follows it.
#ifndef OOM_FORENSICS_CORE_UTF8_H_
#define OOM_FORENSICS_CORE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace oom_forensics {

// Stands for a byte that is not UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

// Bytes of the UTF-8 sequence that `text`, which is not empty, begins with; 0:
// it begins with none.
size_t Utf8Length(std::string_view text);

bool IsUtf8(std::string_view text);

// `text` with U+FFFD instead of each byte that is not UTF-8.
std::string ValidUtf8(std::string_view text);

// The first `max_bytes` of `text`, or less, so that no character is cut.
std::string_view Utf8Prefix(std::string_view text, size_t max_bytes);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_UTF8_H_
