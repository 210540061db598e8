#include "converter/render/what_if_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

std::string Outcome(const WhatIfCourse& course) {
  if (course.fits()) return "fits";
  return absl::StrCat(FormatBytes(course.refused().requested_bytes()),
                      " refused");
}

std::string Line(const std::string& name, const std::string& recorded,
                 const std::string& asked) {
  return absl::StrFormat("  %-16s %-22s %s\n", name, recorded, asked);
}

std::string LimitText(const WhatIfCourse& course) {
  return course.limit_bytes() == 0 ? "not recorded"
                                   : FormatBytes(course.limit_bytes());
}

std::string Seconds(uint64_t duration_ns) {
  return absl::StrFormat("%.3f s", static_cast<double>(duration_ns) / 1e9);
}

}  // namespace

std::string RenderWhatIf(const WhatIfAnswer& answer) {
  const WhatIfCourse& recorded = answer.recorded();
  const WhatIfCourse& asked = answer.asked();
  const auto bytes = [&](const std::string& name, uint64_t before,
                         uint64_t after) {
    return Line(name, FormatBytes(before), FormatBytes(after));
  };
  const auto growth = [](const WhatIfCourse& course) {
    return course.growth() ? "region by region" : "at once";
  };
  std::string text =
      absl::StrCat(answer.sentence(), "\n\n", answer.allocator(), "\n");
  absl::StrAppend(
      &text, Line("", "recorded", "what if"),
      Line("outcome", Outcome(recorded), Outcome(asked)),
      Line("lasted", Seconds(recorded.lasted_ns()), Seconds(asked.lasted_ns())),
      Line("limit", LimitText(recorded), LimitText(asked)),
      Line("grows", growth(recorded), growth(asked)),
      bytes("peak in use", recorded.peak_in_use_bytes(),
            asked.peak_in_use_bytes()),
      bytes("peak reserved", recorded.peak_reserved_bytes(),
            asked.peak_reserved_bytes()),
      bytes("free", recorded.free_bytes(), asked.free_bytes()),
      bytes("largest hole", recorded.largest_free_bytes(),
            asked.largest_free_bytes()));
  if (!asked.fits()) {
    const Request& refused = asked.refused();
    absl::StrAppend(
        &text, "\n  refused: ",
        refused.op_name().empty() ? "(no op recorded)" : refused.op_name(),
        ", ", FormatBytes(refused.requested_bytes()), "\n");
  }
  if (answer.requests() != 0) {
    absl::StrAppend(&text, "\n  The model, left as recorded, places ",
                    FormatCount(answer.placed_alike()), " of ",
                    FormatCount(answer.requests()),
                    " allocations where TensorFlow did.\n");
  }
  for (const std::string& doubt : answer.doubts()) {
    absl::StrAppend(&text, "  ", doubt, "\n");
  }
  for (const Quality& quality : answer.quality()) {
    if (quality.severity() == INFO_ONLY) continue;
    absl::StrAppend(&text, "  ", quality.sentence(), "\n");
  }
  return text;
}

}  // namespace oom_forensics
