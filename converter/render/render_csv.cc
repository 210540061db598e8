#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/render/render.h"
#include "google/protobuf/descriptor.h"

namespace oom_forensics {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Inside of single messages; a message may contain itself.
constexpr int kMaxDepth = 4;

std::string Quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// What a spreadsheet would run as a formula is made text by an apostrophe, as
// the tab does. Of the text of fields only; a number stays one.
std::string WithoutFormula(const std::string& text) {
  const bool is_formula =
      !text.empty() &&
      std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  return is_formula ? "'" + text : text;
}

std::string Value(const Message& message, const FieldDescriptor& field,
                  int index) {
  const Reflection& fields = *message.GetReflection();
  const bool repeated = index >= 0;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return absl::StrCat(repeated
                              ? fields.GetRepeatedInt32(message, &field, index)
                              : fields.GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return absl::StrCat(repeated
                              ? fields.GetRepeatedInt64(message, &field, index)
                              : fields.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat(repeated
                              ? fields.GetRepeatedUInt32(message, &field, index)
                              : fields.GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat(repeated
                              ? fields.GetRepeatedUInt64(message, &field, index)
                              : fields.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return absl::StrCat(repeated
                              ? fields.GetRepeatedDouble(message, &field, index)
                              : fields.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return absl::StrCat(repeated
                              ? fields.GetRepeatedFloat(message, &field, index)
                              : fields.GetFloat(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return (repeated ? fields.GetRepeatedBool(message, &field, index)
                       : fields.GetBool(message, &field))
                 ? "true"
                 : "false";
    case FieldDescriptor::CPPTYPE_ENUM:
      return (repeated ? fields.GetRepeatedEnum(message, &field, index)
                       : fields.GetEnum(message, &field))
          ->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return repeated ? fields.GetRepeatedString(message, &field, index)
                      : fields.GetString(message, &field);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      break;
  }
  return "";
}

std::string Cell(const Message& message, const FieldDescriptor& field) {
  const bool is_text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  const auto quoted = [is_text](const std::string& value) {
    return Quoted(is_text ? WithoutFormula(value) : value);
  };
  if (!field.is_repeated()) return quoted(Value(message, field, -1));
  std::string joined;
  const int count = message.GetReflection()->FieldSize(message, &field);
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&joined, i == 0 ? "" : " ", Value(message, field, i));
  }
  return quoted(joined);
}

void AddHeader(const Descriptor& type, const std::string& prefix, int depth,
               std::vector<std::string>* header) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      header->push_back(prefix + field.name());
    } else if (!field.is_repeated() && depth < kMaxDepth) {
      AddHeader(*field.message_type(), prefix + field.name() + ".", depth + 1,
                header);
    }
  }
}

void AddCells(const Message& message, int depth,
              std::vector<std::string>* cells) {
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      cells->push_back(Cell(message, field));
    } else if (!field.is_repeated() && depth < kMaxDepth) {
      AddCells(message.GetReflection()->GetMessage(message, &field), depth + 1,
               cells);
    }
  }
}

std::string Line(const std::vector<std::string>& cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    absl::StrAppend(&line, i == 0 ? "" : ",", cells[i]);
  }
  return line + "\r\n";
}

// Scalar fields only: what a row inherits from the message around it.
void AddOuter(const Message& message, std::vector<std::string>* cells) {
  const Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) continue;
    cells->push_back(Cell(message, field));
  }
}

std::string_view TakePart(std::string_view* path) {
  const size_t dot = path->find('.');
  const std::string_view part = path->substr(0, dot);
  path->remove_prefix(dot == std::string_view::npos ? path->size() : dot + 1);
  return part;
}

void WriteRows(const Message& message, std::string_view path,
               const std::vector<std::string>& outer, std::string* csv) {
  if (path.empty()) {
    std::vector<std::string> cells = outer;
    AddCells(message, 0, &cells);
    *csv += Line(cells);
    return;
  }
  const FieldDescriptor& field =
      *message.GetDescriptor()->FindFieldByName(std::string(TakePart(&path)));
  const Reflection& fields = *message.GetReflection();
  std::vector<std::string> cells = outer;
  AddOuter(message, &cells);
  if (!field.is_repeated()) {
    WriteRows(fields.GetMessage(message, &field), path, cells, csv);
    return;
  }
  for (int i = 0; i < fields.FieldSize(message, &field); ++i) {
    WriteRows(fields.GetRepeatedMessage(message, &field, i), path, cells, csv);
  }
}

std::string Header(const Message& message, std::string_view path) {
  std::vector<std::string> header;
  const Descriptor* type = message.GetDescriptor();
  std::string prefix;
  while (!path.empty()) {
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) continue;
      header.push_back(prefix + field.name());
    }
    const std::string part(TakePart(&path));
    type = type->FindFieldByName(part)->message_type();
    // What is around the rows keeps its name apart from theirs.
    if (!path.empty()) prefix = part + ".";
  }
  AddHeader(*type, "", 0, &header);
  return Line(header);
}

}  // namespace

std::string RenderCsv(const Message& message, std::string_view rows) {
  std::string csv = Header(message, rows);
  WriteRows(message, rows, {}, &csv);
  return csv;
}

}  // namespace oom_forensics
