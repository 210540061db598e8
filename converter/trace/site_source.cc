#include "converter/trace/site_source.h"

#include "absl/strings/str_cat.h"

namespace oom_forensics {
namespace {

// "train.py:41"
std::string Place(const HostTrace& host, const CodeLine& line) {
  const std::string_view file = BaseName(host.strings.Get(line.file));
  const absl::string_view shown =
      file.empty() ? absl::string_view("line ")
                   : absl::string_view(file.data(), file.size());
  return absl::StrCat(shown, file.empty() ? "" : ":", line.line);
}

}  // namespace

SiteSource SourceOf(const HostTrace& host, const AllocationSite& site) {
  SiteSource source;
  source.called = site.stack;
  // What is recorded of an op's name is of the op in a graph.
  const OpSource* op =
      site.mode == SiteMode::kEager ? nullptr : host.source.OpOf(site.op);
  if (op != nullptr) {
    if (op->called != kNoStack) source.called = op->called;
    source.made_at = op->made_at;
    source.object = op->object;
  }
  source.line = host.source.StackAt(source.made_at).user_line;
  if (source.line == kNoLine) {
    source.line = host.source.StackAt(source.called).user_line;
  }
  return source;
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string DescribeLine(const HostTrace& host, LineId line) {
  if (line == kNoLine) return "";
  const CodeLine& code = host.source.LineAt(line);
  const std::string& function = host.strings.Get(code.function);
  return absl::StrCat(Place(host, code),
                      function.empty() || function == "<module>"
                          ? std::string()
                          : absl::StrCat(" in ", function));
}

std::string DescribeSource(const HostTrace& host, const AllocationSite& site) {
  const SiteSource source = SourceOf(host, site);
  if (source.line == kNoLine || source.object == kEmptyString) {
    return DescribeLine(host, source.line);
  }
  return absl::StrCat(Place(host, host.source.LineAt(source.line)), " (",
                      host.strings.Get(source.object), ")");
}

}  // namespace oom_forensics
