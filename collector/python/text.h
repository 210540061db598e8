// How CPython keeps the characters of a str (PEP 393).
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_TEXT_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oom_forensics::collector::python {

// The bits of PyASCIIObject.state, the same from 3.10 to 3.13.
class TextState {
 public:
  explicit TextState(uint32_t bits) : bits_(bits) {}

  // 1, 2 or 4.
  size_t bytes_per_character() const { return bits_ >> 2 & 7; }
  bool is_ascii() const { return (bits_ >> 6 & 1) != 0; }

  // The characters follow the object, and their size is a possible one.
  bool IsReadable() const {
    const size_t bytes = bytes_per_character();
    return (bits_ >> 5 & 1) != 0 && (bytes == 1 || bytes == 2 || bytes == 4);
  }

  // What cannot be written in UTF-8 (a lone surrogate) becomes '?'.
  std::string ToUtf8(std::string_view characters) const;

 private:
  const uint32_t bits_;
};

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_TEXT_H_
