#include "converter/forensics/host_memory/host_predicates.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "converter/forensics/source_frames.h"
#include "converter/text/text.h"
#include "converter/trace/site_source.h"

namespace oom_forensics {

double ShareOf(uint64_t bytes, const HostCase& host_case) {
  return host_case.whole == 0 ? 0
                              : static_cast<double>(bytes) /
                                    static_cast<double>(host_case.whole);
}

HostCause MakeHostCause(const HostCase& host_case, const char* kind,
                        uint64_t bytes) {
  HostCause cause;
  cause.kind = kind;
  cause.share = ShareOf(bytes, host_case);
  return cause;
}

Evidence MakeEvidence(const std::string& name, double value,
                      const std::string& unit) {
  Evidence evidence;
  evidence.set_name(name);
  evidence.set_value(value);
  evidence.set_unit(unit);
  return evidence;
}

Remedy MakeRemedy(const std::string& kind, const std::string& title,
                  const std::string& detail, uint64_t bytes) {
  Remedy remedy;
  remedy.set_kind(kind);
  remedy.set_title(title);
  remedy.set_detail(detail);
  remedy.set_bytes(bytes);
  remedy.set_sufficiency(UNCERTAIN);
  return remedy;
}

void PointTo(const std::optional<SourceFrame>& line, Remedy* remedy) {
  if (line.has_value()) *remedy->mutable_line() = *line;
}

std::string ShortLine(const SourceFrame& line) {
  return absl::StrCat(Absl(BaseName(line.file())), ":", line.line());
}

std::string LongLineText(const SourceFrame& line) {
  std::string text =
      absl::StrCat("line ", line.line(), " of ", Absl(BaseName(line.file())));
  if (!line.text().empty()) absl::StrAppend(&text, " (`", line.text(), "`)");
  return text;
}

std::string AtLine(const std::optional<SourceFrame>& line) {
  return line.has_value() ? absl::StrCat(" at ", LongLineText(*line)) : "";
}

std::optional<SourceFrame> LineOf(const HostCase& host_case,
                                  const HostActivity& activity) {
  if (activity.stack == kNoStack) return std::nullopt;
  const LineId line = host_case.host.source.StackAt(activity.stack).user_line;
  if (line == kNoLine) return std::nullopt;
  return MakeSourceFrame(host_case.host, line);
}

uint64_t QuantityAt(const HostMemoryTrace& memory, std::string_view name,
                    int64_t time_ns) {
  const HostQuantity* const quantity = memory.Find(name);
  if (quantity == nullptr) return 0;
  const auto after = std::upper_bound(quantity->time_ns.begin(),
                                      quantity->time_ns.end(), time_ns);
  return after == quantity->time_ns.begin()
             ? 0
             : quantity->bytes[static_cast<size_t>(
                   after - quantity->time_ns.begin() - 1)];
}

}  // namespace oom_forensics
