#include "converter/render/host_memory_text.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/render/report.h"
#include "converter/text/story_words.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr int kHoldersOfOpening = 3;
constexpr int kHoldersOfHost = 10;
constexpr int kRemediesOfOpening = 3;

struct PartName {
  std::string_view name;
  const char* text;
};
constexpr PartName kPartNames[] = {
    {"tensors", "tensors of TensorFlow's default allocator"},
    {"pools", "TensorFlow's pools on the CPU"},
    {"native", "blocks of NumPy and other libraries"},
    {"python", "Python's objects"},
    {"malloc_other", "other blocks of malloc"},
    {"malloc_free", "freed, and held by malloc"},
    {"unexplained", "not explained"},
    {"files", "files that are mapped, libraries among them"},
    {"shared", "shared memory"},
};

std::string TextOfPart(const std::string& part) {
  for (const PartName& known : kPartNames) {
    if (known.name == part) return known.text;
  }
  return part;
}

std::string HolderText(const HostMemoryHolder& holder) {
  const std::string line = LineAndSource(holder.line(), "");
  return absl::StrCat(FormatBytes(holder.bytes()), " in ",
                      CountOf(holder.count(), "block"), ": ",
                      line.empty() ? OpOrUnknown(holder.owner()) : line,
                      holder.estimated() ? " (estimated)" : "");
}

void AddDeath(const HostMemorySeries& series, std::vector<std::string>* lines) {
  lines->push_back(Printable(series.end().sentence()));
  for (const VerdictPart& part : series.verdict().parts()) {
    lines->push_back(
        absl::StrCat("Why: ", part.kind(), ". ", Printable(part.sentence())));
  }
  if (!series.verdict().doubt().empty()) {
    lines->push_back(
        absl::StrCat("Doubt: ", Printable(series.verdict().doubt()), "."));
  }
  if (!series.remedies().empty()) lines->push_back("What to change:");
  for (int i = 0; i < std::min(kRemediesOfOpening, series.remedies_size());
       ++i) {
    const Remedy& remedy = series.remedies(i);
    lines->push_back(absl::StrCat("  ", i + 1, ". ", Printable(remedy.title()),
                                  ". ", Printable(remedy.detail())));
  }
  if (!series.holders().empty()) {
    lines->push_back("Who held most memory of the host:");
  }
  for (int i = 0; i < std::min(kHoldersOfOpening, series.holders_size()); ++i) {
    lines->push_back(absl::StrCat("  ", HolderText(series.holders(i))));
  }
}

void AddPartsOfHost(const HostMemorySeries& series, std::string* text) {
  if (series.columns().empty()) return;
  const HostMemoryColumn& last = *series.columns().rbegin();
  absl::StrAppend(text, "  In the process at the last look, ",
                  FormatBytes(last.resident_bytes()), ":\n");
  for (int i = 0; i < last.part_bytes_size(); ++i) {
    if (last.part_bytes(i) == 0) continue;
    absl::StrAppendFormat(text, "    %10s  %s\n",
                          FormatBytes(last.part_bytes(i)),
                          TextOfPart(series.parts(i)));
  }
}

}  // namespace

std::vector<std::string> DeathLines(const HostMemory& memory) {
  std::vector<std::string> lines;
  for (const HostMemorySeries& series : memory.series()) {
    if (series.has_end()) AddDeath(series, &lines);
  }
  return lines;
}

std::string RenderHostMemory(const HostMemory& memory) {
  std::string text;
  for (const HostMemorySeries& series : memory.series()) {
    absl::StrAppend(&text, "\nThe memory of host ", Printable(series.host()),
                    "\n");
    if (series.has_end()) {
      absl::StrAppend(&text, "  ended    ", FormatTime(series.end().time_ns()),
                      "\n");
    }
    if (!series.end().seen().empty()) {
      absl::StrAppend(&text, "  seen     ", Printable(series.end().seen()),
                      "\n");
    }
    if (!series.command().empty()) {
      absl::StrAppend(&text, "  command  ", Printable(series.command()), "\n");
    }
    AddPartsOfHost(series, &text);
    if (series.holders().empty()) continue;
    absl::StrAppend(&text, "  Live blocks, by line:\n");
    for (int i = 0; i < std::min(kHoldersOfHost, series.holders_size()); ++i) {
      absl::StrAppend(&text, "    ", HolderText(series.holders(i)), "\n");
    }
  }
  return text;
}

}  // namespace oom_forensics
