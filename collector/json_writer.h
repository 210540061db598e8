// JsonWriter: JSON text, written from front to back. The caller opens and
// closes; commas and escapes are the writer's.
#ifndef OOM_FORENSICS_COLLECTOR_JSON_WRITER_H_
#define OOM_FORENSICS_COLLECTOR_JSON_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace oom_forensics::collector {

class JsonWriter {
 public:
  void BeginObject() { Open('{'); }
  void EndObject() { Close('}'); }
  void BeginArray() { Open('['); }
  void EndArray() { Close(']'); }

  // The name of the member that is written next.
  void Name(std::string_view name);

  // Numbers above 2^53 lose digits in many readers: addresses and random ids
  // are better written as strings.
  void Value(uint64_t value);
  void Value(int64_t value);
  void Value(int value);
  // NaN and infinities, which JSON does not have, become null.
  void Value(double value);
  void Value(bool value);
  void Value(std::string_view value);
  void Value(const char* value) { Value(std::string_view(value)); }
  // Text that is JSON already.
  void Raw(std::string_view json);

  template <typename T>
  void Field(std::string_view name, const T& value) {
    Name(name);
    Value(value);
  }

  std::string Take() { return std::move(text_); }

 private:
  void Open(char bracket);
  void Close(char bracket);
  void Comma();

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_JSON_WRITER_H_
