// The planes of a trace (proto/event_schema.h) of what a black box holds.
#ifndef OOM_FORENSICS_CONVERTER_BLACK_BOX_BOX_PLANES_H_
#define OOM_FORENSICS_CONVERTER_BLACK_BOX_BOX_PLANES_H_

#include <cstring>
#include <string>
#include <vector>

#include "converter/black_box/box_trace.h"
#include "core/black_box.h"

namespace oom_forensics {

// The text of a field that ends with a 0, or with the field.
template <size_t kBytes>
std::string TextOf(const char (&field)[kBytes]) {
  return {field, strnlen(field, kBytes)};
}

// The serialized XSpace. `samples` are by time.
std::string WriteBoxPlanes(const black_box::Box& box,
                           const std::vector<const black_box::Sample*>& samples,
                           const Ending& ending,
                           const ReadBox::LineText& line_text);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_BLACK_BOX_BOX_PLANES_H_
