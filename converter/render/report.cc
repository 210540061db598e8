#include "converter/render/report.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "converter/render/forecast_text.h"
#include "converter/render/host_memory_text.h"
#include "converter/render/opening_text.h"
#include "converter/text/story_words.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr int kShownHolders = 10;
constexpr int kShownScopes = 6;

std::string Percent(double share) {
  return absl::StrFormat("%.1f %%", share * 100);
}

template <typename Links>
std::string Chain(const Links& links) {
  return Printable(absl::StrJoin(links, " -> "));
}

void AddSource(const SourceLocation& source, const std::string& indent,
               const std::string& label, std::string* text) {
  if (source.line().line() == 0) return;
  absl::StrAppend(text, indent, label,
                  LineAndSource(source.line(), source.object()), "\n");
  if (source.called().line() != 0) {
    absl::StrAppend(text, indent, "called at ",
                    LineAndSource(source.called(), ""), "\n");
  }
}

// Who needs a compiled block.
void AddBlock(const BlockContent& block, std::string* text) {
  for (int i = 0; i < std::min(kShownScopes, block.by_scope_size()); ++i) {
    const BlockShare& share = block.by_scope(i);
    absl::StrAppendFormat(text, "%s%10s  %s\n",
                          i == 0 ? "  for      " : "           ",
                          FormatBytes(share.bytes()), Printable(share.key()));
  }
  if (block.by_scope_size() > kShownScopes) {
    absl::StrAppend(text, "           and ",
                    block.by_scope_size() - kShownScopes, " more\n");
  }
  if (block.unused_bytes() > 0) {
    absl::StrAppendFormat(text, "           %10s  unused between them\n",
                          FormatBytes(block.unused_bytes()));
  }
}

void AddRequest(const Oom& oom, std::string* text) {
  const Request& request = oom.request();
  absl::StrAppend(text, "  who      ",
                  request.who().empty() ? OpOrUnknown(request.op_name())
                                        : Printable(request.who()),
                  "\n");
  AddSource(request.source(), "           ", "", text);
  if (oom.has_block()) AddBlock(oom.block(), text);
  absl::StrAppend(text, "  asked    ", FormatBytes(request.requested_bytes()),
                  " (", FormatCount(request.requested_bytes()), " bytes)");
  if (request.has_shape()) {
    absl::StrAppend(text, " for ", TensorText(request));
  }
  absl::StrAppend(text, "\n  when     ", FormatTime(oom.time_ns()));
  if (request.step() >= 0) absl::StrAppend(text, ", step ", request.step());
  if (request.waited_ns() > 0) {
    absl::StrAppendFormat(text, ", after %.1f s of retries",
                          static_cast<double>(request.waited_ns()) / 1e9);
  }
  absl::StrAppend(text, "\n  where    ", Printable(oom.allocator()),
                  " on host ", Printable(oom.host()), "\n");
}

// The others of its incident: one line for all.
void AddAlsoRefused(const Oom& oom, const OomWindow& window,
                    std::string* text) {
  if (oom.also_refused().empty()) return;
  uint64_t bytes = 0;
  for (const Oom& other : window.ooms()) {
    if (other.incident() == oom.index() && other.index() != oom.index()) {
      bytes += other.request().requested_bytes();
    }
  }
  absl::StrAppend(
      text, "  and      ",
      CountOf(static_cast<uint64_t>(oom.also_refused_size()), "more request"),
      " at the same moment, ", FormatBytes(bytes), " in all\n");
}

void AddLayout(const Oom& oom, std::string* text) {
  const FragmentationMeasures& measures = oom.measures();
  absl::StrAppend(
      text, "  limit    ",
      oom.limit_bytes() == 0 ? "unknown" : FormatBytes(oom.limit_bytes()),
      ", reserved ", FormatBytes(oom.reserved_bytes()), ", in use ",
      FormatBytes(oom.in_use_bytes()), " by ", FormatCount(oom.live_count()),
      " allocations\n");
  if (!oom.has_layout()) {
    absl::StrAppend(text,
                    "  free     unknown: the device's driver places the "
                    "blocks\n");
    return;
  }
  absl::StrAppend(text, "  free     ", FormatBytes(oom.free_bytes()), " in ",
                  FormatCount(measures.free_chunk_count()),
                  " holes, the largest ", FormatBytes(oom.largest_free_bytes()),
                  "; ", Percent(measures.unusable_free()),
                  " of it in holes too small for the request\n");
}

void AddVerdict(const Oom& oom, std::string* text) {
  const Verdict& verdict = oom.verdict();
  absl::StrAppend(text, "\n  Why: ", verdict.kind(), ". ",
                  Printable(verdict.sentence()), "\n");
  // Where a deeper cause is known, also what it came to, in the words that the
  // flight recorder said.
  for (const Evidence& evidence : verdict.evidence()) {
    if (evidence.name() != "placement") continue;
    absl::StrAppend(text, "  At the refusal: ", Printable(evidence.sentence()),
                    "\n");
  }
  if (!verdict.doubt().empty()) {
    absl::StrAppend(text, "  Doubt: ", Printable(verdict.doubt()), "\n");
  }
}

void AddForecast(const ReportParts& parts, int oom, std::string* text) {
  for (const StepForecast& forecast : parts.forecasts.forecasts()) {
    if (forecast.oom() != oom) continue;
    absl::StrAppend(text, "\n  If the step had gone on:\n",
                    RenderForecast(forecast, false, {}));
  }
}

void AddHolders(const Oom& oom, std::string* text) {
  if (oom.holders().empty()) return;
  absl::StrAppend(text, "\n  Who held the memory:\n");
  for (int i = 0; i < std::min(kShownHolders, oom.holders_size()); ++i) {
    const Holder& holder = oom.holders(i);
    const Allocation& example = holder.example();
    absl::StrAppendFormat(
        text, "    %10s  %8s x  %s", FormatBytes(holder.allocated_bytes()),
        FormatCount(holder.count()), OpOrUnknown(example.op_name()));
    if (example.has_shape()) {
      absl::StrAppend(text, " ", TensorText(example));
    }
    const std::string line =
        LineText(example.source().line(), example.source().object());
    if (!line.empty()) absl::StrAppend(text, "  ", line);
    absl::StrAppend(text, "\n");
  }
}

template <typename Groups>
void AddLines(const Groups& groups, std::string* text) {
  // Not one of them has a line.
  if (std::none_of(
          groups.begin(), groups.end(),
          [](const AllocationGroup& group) { return group.has_line(); })) {
    return;
  }
  absl::StrAppend(text, "\n  By line of your program:\n");
  for (int i = 0; i < std::min(kShownHolders, groups.size()); ++i) {
    const AllocationGroup& group = groups.Get(i);
    absl::StrAppendFormat(text, "    %10s  %8s x  %s\n",
                          FormatBytes(group.allocated_bytes()),
                          FormatCount(group.count()),
                          group.has_line() ? LineAndSource(group.line(), "")
                                           : Printable(group.key()));
  }
}

template <typename Keepers>
void AddKeepers(const Keepers& keepers, const std::string& indent,
                std::string* text) {
  for (int i = 0; i < std::min(kShownHolders, keepers.size()); ++i) {
    const Keeper& keeper = keepers.Get(i);
    absl::StrAppend(text, indent, FormatBytes(keeper.allocated_bytes()), " in ",
                    FormatCount(keeper.count()), ": ", Chain(keeper.chain()));
    const std::string line = LineText(keeper.line(), "");
    if (!line.empty()) absl::StrAppend(text, ", ", line);
    absl::StrAppend(text, "\n");
  }
}

void AddPeak(const ReportParts::Peak& peak, std::string* text) {
  absl::StrAppend(text, "\nWho held the memory of ", Printable(peak.allocator),
                  " at its peak, ", FormatTime(peak.live.time_ns()), ":\n");
  for (int i = 0; i < std::min(kShownHolders, peak.live.groups_size()); ++i) {
    const AllocationGroup& group = peak.live.groups(i);
    absl::StrAppendFormat(text, "  %10s  %8s x  %s\n",
                          FormatBytes(group.allocated_bytes()),
                          FormatCount(group.count()), Printable(group.key()));
  }
  AddLines(peak.lines.groups(), text);
  if (peak.keepers.empty()) return;
  absl::StrAppend(text, "\n  What keeps what was live in the end:\n");
  AddKeepers(peak.keepers, "    ", text);
}

void AddLeaks(const Leaks& leaks, std::string* text) {
  if (leaks.leaks().empty()) return;
  absl::StrAppend(text, "\nPossible leaks:\n");
  for (int i = 0; i < std::min(kShownHolders, leaks.leaks_size()); ++i) {
    const Leak& leak = leaks.leaks(i);
    absl::StrAppend(text, "  - ", Printable(leak.sentence()), "\n");
    AddSource(leak.source(), "    ", "made at ", text);
    AddKeepers(leak.keepers(), "    kept by ", text);
  }
}

void AddRemedies(const Oom& oom, std::string* text) {
  if (oom.remedies().empty()) return;
  absl::StrAppend(text, "\n  What to change:\n");
  for (const Remedy& remedy : oom.remedies()) {
    absl::StrAppend(text, "    - ", Printable(remedy.title()));
    if (remedy.bytes() > 0) {
      absl::StrAppend(text, " (gives back ", FormatBytes(remedy.bytes()), ")");
    }
    absl::StrAppend(text, " [", remedy.how_sure(), "]\n");
    if (!remedy.detail().empty()) {
      absl::StrAppend(text, "      ", Printable(remedy.detail()), "\n");
    }
    const std::string line = LineAndSource(remedy.line(), "");
    if (!line.empty()) absl::StrAppend(text, "      made at ", line, "\n");
    if (!remedy.keeper().empty()) {
      absl::StrAppend(text, "      kept by ", Chain(remedy.keeper()), "\n");
    }
  }
}

void AddDumpCheck(const Oom& oom, std::string* text) {
  const DumpCheck& check = oom.dump_check();
  if (!check.has_dump()) return;
  absl::StrAppend(
      text, "\n  Checked against TensorFlow's own map: ",
      check.equal()
          ? absl::StrCat("all ", FormatCount(check.chunks()), " chunks equal.")
          : absl::StrCat(FormatCount(check.different_chunks()), " of ",
                         FormatCount(check.chunks()), " chunks differ. ",
                         check.difference()),
      "\n");
}

template <typename Entries>
void AddQuality(const Entries& entries, std::string* text) {
  bool first = true;
  for (const Quality& entry : entries) {
    if (entry.severity() == INFO_ONLY) continue;
    if (first) absl::StrAppend(text, "\nWhat these numbers lack:\n");
    first = false;
    absl::StrAppend(text, "  - ", Printable(entry.sentence()));
    if (!entry.allocator().empty()) {
      absl::StrAppend(text, " (", Printable(entry.allocator()), ")");
    }
    absl::StrAppend(text, "\n");
  }
}

void AddHosts(const Info& info, std::string* text) {
  for (const HostInfo& host : info.hosts()) {
    absl::StrAppend(text, "\nHost ", Printable(host.host()));
    if (!host.tensorflow_version().empty()) {
      absl::StrAppend(text, ", TensorFlow ",
                      Printable(host.tensorflow_version()));
    }
    absl::StrAppend(text, "\n");
    if (host.allocators().empty()) {
      absl::StrAppend(text, "  no memory events\n");
    }
    for (const AllocatorInfo& allocator : host.allocators()) {
      absl::StrAppend(text, "  ", Printable(allocator.allocator()), ": peak ",
                      FormatBytes(allocator.peak_in_use_bytes()), " of ",
                      allocator.limit_bytes() == 0
                          ? "an unknown limit"
                          : FormatBytes(allocator.limit_bytes()),
                      ", ", FormatCount(allocator.alloc_count()),
                      " allocations, ", FormatCount(allocator.free_count()),
                      " frees, ", CountOf(allocator.oom_count(), "OOM"), "\n");
    }
  }
}

}  // namespace

std::string FormatTime(int64_t time_ns) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E6S UTC",
                          absl::FromUnixNanos(time_ns), absl::UTCTimeZone());
}

std::string RenderInfo(const std::string& run_name, const Info& info) {
  std::string text = absl::StrCat("Run ", Printable(run_name), "\n");
  AddHosts(info, &text);
  AddQuality(info.quality(), &text);
  return text;
}

std::string RenderReport(const std::string& run_name,
                         const ReportParts& parts) {
  std::string text =
      absl::StrCat(RenderOpening(parts), "\nRun ", Printable(run_name), "\n");
  text += RenderHostMemory(parts.host_memory);
  AddHosts(parts.info, &text);
  for (int i = 0; i < parts.window.ooms_size(); ++i) {
    const Oom& oom = parts.window.ooms(i);
    if (!IsFirstOfIncident(oom, parts.window)) continue;
    absl::StrAppend(&text, "\nOOM ", oom.index() + 1, " of ",
                    parts.window.ooms_size(), "\n");
    AddRequest(oom, &text);
    AddAlsoRefused(oom, parts.window, &text);
    AddLayout(oom, &text);
    AddVerdict(oom, &text);
    if (i < static_cast<int>(parts.layouts.size()) &&
        !parts.layouts[i].empty()) {
      absl::StrAppend(&text, "\n  The pool at that moment:\n",
                      parts.layouts[i]);
    }
    AddForecast(parts, oom.index(), &text);
    AddHolders(oom, &text);
    AddLines(oom.lines(), &text);
    if (!oom.keepers().empty()) {
      absl::StrAppend(&text, "\n  What keeps it:\n");
      AddKeepers(oom.keepers(), "    ", &text);
    }
    AddRemedies(oom, &text);
    AddDumpCheck(oom, &text);
  }
  for (const ReportParts::Peak& peak : parts.peaks) AddPeak(peak, &text);
  AddLeaks(parts.leaks, &text);
  AddQuality(parts.window.quality(), &text);
  return text;
}

}  // namespace oom_forensics
