#include "converter/render/opening_text.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/render/host_memory_text.h"
#include "converter/text/story_words.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr size_t kMostLines = 15;
constexpr int kShown = 3;

using Lines = std::vector<std::string>;

// A remedy in one line, then the code to paste.
Lines RemedyLines(int number, const Remedy& remedy) {
  std::string title =
      absl::StrCat("  ", number, ". ", Printable(remedy.title()), " [",
                   remedy.how_sure(), "]");
  const std::string line = LineText(remedy.line(), "");
  if (!line.empty()) absl::StrAppend(&title, " ", line);
  Lines lines = {title};
  std::string code = remedy.code();
  while (!code.empty()) {
    const size_t end = code.find('\n');
    lines.push_back(absl::StrCat("       ", Printable(code.substr(0, end))));
    code = end == std::string::npos ? "" : code.substr(end + 1);
  }
  return lines;
}

void AddRemedies(const Oom& oom, size_t room, Lines* lines) {
  Lines changes;
  for (int i = 0; i < oom.opening().remedies(); ++i) {
    const Lines more = RemedyLines(i + 1, oom.remedies(i));
    if (changes.size() + more.size() > room) break;
    changes.insert(changes.end(), more.begin(), more.end());
  }
  if (changes.empty()) return;
  lines->push_back("What to change:");
  lines->insert(lines->end(), changes.begin(), changes.end());
}

Lines OomLines(const Oom& oom) {
  Lines lines = {
      absl::StrCat("Out of memory: ", oom.opening().what_happened())};
  const Verdict& verdict = oom.verdict();
  lines.push_back(absl::StrCat("Why: ", verdict.kind(), ". ",
                               Printable(verdict.sentence())));
  Lines holders;
  if (oom.opening().holders_size() > 0) {
    holders.push_back(absl::StrCat(
        "Who holds most of the ", FormatBytes(oom.in_use_bytes()), " in use:"));
    for (const std::string& holder : oom.opening().holders()) {
      holders.push_back(absl::StrCat("  ", holder));
    }
  }
  // One line is the heading's, one the end's.
  AddRemedies(oom, kMostLines - lines.size() - holders.size() - 2, &lines);
  lines.insert(lines.end(), holders.begin(), holders.end());
  return lines;
}

std::string AtPeak(const ReportParts::Peak& peak) {
  return absl::StrCat("Who held the memory of ", Printable(peak.allocator),
                      " at its peak:");
}

// What libraries of NVIDIA's said that had no memory; nothing where none did.
Lines LibraryFailureLines(const Info& info) {
  Lines lines;
  for (const HostInfo& host : info.hosts()) {
    if (!host.has_library_failure()) continue;
    const LibraryFailure& failure = host.library_failure();
    lines.push_back(absl::StrCat(Printable(failure.library()),
                                 " failed: ", Printable(failure.error())));
    lines.push_back(absl::StrCat("Why: ", failure.kind(), ". ",
                                 Printable(failure.sentence())));
    lines.push_back(
        absl::StrCat("What to change: ", Printable(failure.remedy())));
  }
  return lines;
}

// The allocator that came closest to its limit comes first.
Lines PeakLines(const ReportParts& parts) {
  Lines lines = LibraryFailureLines(parts.info);
  if (lines.empty()) lines.push_back("No OOM is recorded in this run.");
  if (!parts.peaks.empty()) {
    const ReportParts::Peak& peak = parts.peaks.front();
    lines.push_back(AtPeak(peak));
    for (int i = 0; i < std::min(kShown, peak.live.groups_size()); ++i) {
      const AllocationGroup& group = peak.live.groups(i);
      lines.push_back(absl::StrCat("  ", FormatBytes(group.allocated_bytes()),
                                   " in ", CountOf(group.count(), "tensor"),
                                   ": ", Printable(group.key())));
    }
  }
  if (!parts.leaks.leaks().empty()) lines.push_back("Possible leaks:");
  for (int i = 0; i < std::min(kShown, parts.leaks.leaks_size()); ++i) {
    const Leak& leak = parts.leaks.leaks(i);
    const std::string line =
        LineText(leak.source().line(), leak.source().object());
    lines.push_back(absl::StrCat("  ", Printable(leak.sentence()),
                                 line.empty() ? "" : " ", line));
  }
  return lines;
}

// What the opening leaves out.
std::string Rest(const OomWindow& window) {
  const auto incidents = static_cast<uint64_t>(std::count_if(
      window.ooms().begin(), window.ooms().end(),
      [&window](const Oom& oom) { return IsFirstOfIncident(oom, window); }));
  return absl::StrCat(
      "--full shows the rest",
      incidents > 1
          ? absl::StrCat(", with ", CountOf(incidents - 1, "later OOM"))
          : "",
      "; `oom-forensics view` opens it in a browser, and TensorBoard's tab "
      "shows it, too.");
}

}  // namespace

bool IsFirstOfIncident(const Oom& oom, const OomWindow& window) {
  for (const Oom& other : window.ooms()) {
    if (other.index() == oom.index()) return true;
    if (other.incident() == oom.incident()) return false;
  }
  return true;
}

std::string RenderOpening(const ReportParts& parts) {
  const OomWindow& window = parts.window;
  Lines lines = DeathLines(parts.host_memory);
  if (lines.empty()) {
    // What a library's failure had written is about that.
    lines = window.ooms().empty() || !LibraryFailureLines(parts.info).empty()
                ? PeakLines(parts)
                : OomLines(window.ooms(0));
  }
  std::string text;
  for (const std::string& line : lines) absl::StrAppend(&text, line, "\n");
  return text;
}

std::string RenderShortReport(const ReportParts& parts) {
  return absl::StrCat(RenderOpening(parts), Rest(parts.window), "\n");
}

}  // namespace oom_forensics
