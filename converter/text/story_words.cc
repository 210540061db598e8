#include "converter/text/story_words.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/text/text.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

template <typename Tensor>
std::string TypeAndShape(const Tensor& tensor) {
  if (!tensor.has_shape()) return "";
  return absl::StrCat(Printable(tensor.dtype()), "[",
                      absl::StrJoin(tensor.shape(), ","), "]");
}

}  // namespace

std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return text;
}

std::string OpOrUnknown(const std::string& op) {
  // As TensorFlow calls a tensor that arrives from another device.
  if (op == "SameWorkerRecvDone") {
    return "a copy to this device (of a batch, say)";
  }
  std::string_view launch = op;
  if (ConsumeSuffix(&launch, schema::kCompilingSuffix)) {
    return absl::StrCat("XLA, which tries algorithms while it compiles `",
                        Printable(std::string(launch)), "`,");
  }
  return op.empty() ? "outside of any op (made from NumPy, for example)"
                    : Printable(op);
}

std::string TensorText(const Allocation& allocation) {
  return TypeAndShape(allocation);
}

std::string TensorText(const Request& request) { return TypeAndShape(request); }

std::string LineText(const SourceFrame& frame, const std::string& object) {
  if (frame.line() == 0) return "";
  const std::string& file = frame.file();
  std::string text =
      file.empty()
          ? absl::StrCat("line ", frame.line())
          : absl::StrCat(file.substr(file.rfind('/') + 1), ":", frame.line());
  if (!object.empty()) {
    absl::StrAppend(&text, " (", object, ")");
  } else if (!frame.function().empty() && frame.function() != "<module>") {
    absl::StrAppend(&text, " in ", frame.function());
  }
  return Printable(text);
}

std::string LineAndSource(const SourceFrame& frame, const std::string& object) {
  std::string text = LineText(frame, object);
  if (!text.empty() && !frame.text().empty()) {
    absl::StrAppend(&text, ": ", Printable(frame.text()));
  }
  return text;
}

}  // namespace oom_forensics
