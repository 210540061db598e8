// A string field of a message: protobuf's readers refuse a message with one
// that is not UTF-8, so every text enters by this.
#ifndef OOM_FORENSICS_CORE_TEXT_FIELD_H_
#define OOM_FORENSICS_CORE_TEXT_FIELD_H_

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "core/utf8.h"

namespace oom_forensics {

// Appends `text` in field `field` of `message`.
inline void AddText(protozero::pbf_writer* message, uint32_t field,
                    std::string_view text) {
  if (IsUtf8(text)) {
    message->add_string(field, text.data(), text.size());
  } else {
    message->add_string(field, ValidUtf8(text));
  }
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_TEXT_FIELD_H_
