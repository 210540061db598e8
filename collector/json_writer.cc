#include "collector/json_writer.h"

#include <charconv>
#include <cmath>

#include "core/json_text.h"

namespace oom_forensics::collector {

void JsonWriter::Open(char bracket) {
  Comma();
  text_ += bracket;
  needs_comma_ = false;
}

void JsonWriter::Close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::Comma() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::Name(std::string_view name) {
  Comma();
  text_ += QuoteJson(name);
  text_ += ':';
  needs_comma_ = false;
}

void JsonWriter::Value(uint64_t value) {
  Comma();
  text_ += std::to_string(value);
}

void JsonWriter::Value(int64_t value) {
  Comma();
  text_ += std::to_string(value);
}

void JsonWriter::Value(int value) {
  Comma();
  text_ += std::to_string(value);
}

void JsonWriter::Value(double value) {
  Comma();
  if (!std::isfinite(value)) {
    text_ += "null";
    return;
  }
  // printf would write a comma where the user's language has one.
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value);
  text_.append(digits, end.ptr);
}

void JsonWriter::Value(bool value) {
  Comma();
  text_ += value ? "true" : "false";
}

void JsonWriter::Value(std::string_view value) {
  Comma();
  text_ += QuoteJson(value);
}

void JsonWriter::Raw(std::string_view json) {
  Comma();
  text_ += json;
}

}  // namespace oom_forensics::collector
