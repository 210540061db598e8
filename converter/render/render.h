// Answers as bytes.
#ifndef OOM_FORENSICS_CONVERTER_RENDER_RENDER_H_
#define OOM_FORENSICS_CONVERTER_RENDER_RENDER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace oom_forensics {

// Canonical protobuf JSON, lowerCamelCase, on one line. Fields without presence
// are always printed, so that 0 and "" are values and not gaps.
absl::StatusOr<std::string> RenderJson(
    const google::protobuf::Message& message);

// The binary wire format, the same bytes for the same answer.
absl::StatusOr<std::string> RenderProtobuf(
    const google::protobuf::Message& message);

// RFC 4180 with a header. One line for each message of the repeated field
// `rows` ("series.columns"); the fields of the messages around it come first.
// Fields of single messages inside are columns of their own ("peak.time_ns");
// repeated numbers and texts are one column, separated by spaces.
std::string RenderCsv(const google::protobuf::Message& message,
                      std::string_view rows);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RENDER_RENDER_H_
