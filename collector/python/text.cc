#include "collector/python/text.h"

#include <cstring>

namespace oom_forensics::collector::python {
namespace {

void AppendUtf8(uint32_t character, std::string* text) {
  const auto append = [text](uint32_t byte) {
    text->push_back(static_cast<char>(byte));
  };
  if (character < 0x80) {
    append(character);
  } else if (character < 0x800) {
    append(0xc0 | character >> 6);
    append(0x80 | (character & 63));
  } else if (character >= 0xd800 && character < 0xe000) {
    append('?');
  } else if (character < 0x10000) {
    append(0xe0 | character >> 12);
    append(0x80 | (character >> 6 & 63));
    append(0x80 | (character & 63));
  } else if (character < 0x110000) {
    append(0xf0 | character >> 18);
    append(0x80 | (character >> 12 & 63));
    append(0x80 | (character >> 6 & 63));
    append(0x80 | (character & 63));
  } else {
    append('?');
  }
}

}  // namespace

std::string TextState::ToUtf8(std::string_view characters) const {
  if (is_ascii()) return std::string(characters);
  const size_t bytes = bytes_per_character();
  std::string text;
  for (size_t i = 0; i + bytes <= characters.size(); i += bytes) {
    uint32_t character = 0;
    std::memcpy(&character, characters.data() + i, bytes);
    AppendUtf8(character, &text);
  }
  return text;
}

}  // namespace oom_forensics::collector::python
