// What the text of a shape says: "[128,32]".
#ifndef OOM_FORENSICS_CORE_SHAPE_TEXT_H_
#define OOM_FORENSICS_CORE_SHAPE_TEXT_H_

#include <cstddef>
#include <string_view>

namespace oom_forensics {

// Whether a dimension is 0. No memory is asked for such a tensor: where there
// is some, the shape is another one's.
inline bool HasNoElements(std::string_view shape) {
  for (size_t i = 1; i + 1 < shape.size(); ++i) {
    if (shape[i] == '0' && (shape[i - 1] == '[' || shape[i - 1] == ',') &&
        (shape[i + 1] == ']' || shape[i + 1] == ',')) {
      return true;
    }
  }
  return false;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_SHAPE_TEXT_H_
