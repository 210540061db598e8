#include "converter/exports/folded/live_set_stacks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/datasets/selection.h"
#include "converter/exports/pprof/call_stack.h"
#include "converter/trace/site_source.h"

namespace oom_forensics {
namespace {

// One frame; what separates frames and lines cannot be part of it.
std::string FrameText(const StackPlace& place) {
  std::string text(place.name);
  if (place.line != 0) {
    absl::StrAppend(&text, " (", std::string(BaseName(place.file)), ":",
                    place.line, ")");
  }
  for (char& c : text) {
    if (c == ';') c = ':';
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::string StackText(const HostTrace& host, const AllocationSite& site) {
  std::vector<StackPlace> places = CallStack(host, site);
  std::reverse(places.begin(), places.end());
  std::string text;
  for (const StackPlace& place : places) {
    absl::StrAppend(&text, text.empty() ? "" : ";", FrameText(place));
  }
  return text;
}

}  // namespace

absl::StatusOr<std::string> ExportFoldedStacks(const Run& run,
                                               const Query& query) {
  const auto selected = SelectAllocators(run, query.filter());
  if (!selected.ok()) return selected.status();
  std::map<std::string, double> bytes;
  for (const SelectedAllocator& allocator : *selected) {
    const auto position = ResolveMoment(run, allocator, query);
    if (!position.ok()) return position.status();
    const AllocatorReplay& replay = *allocator.replay;
    const RowPredicate keeps(allocator, query.filter(), BirthRule::kFiltered);
    std::map<SiteId, double> of_site;
    for (const Row row : replay.LiveAt(*position)) {
      if (!keeps(row)) continue;
      of_site[replay.trace().site[row]] +=
          replay.trace().WeightOf(row) *
          static_cast<double>(replay.BytesOf(row));
    }
    for (const auto& [site, sum] : of_site) {
      bytes[StackText(replay.host(), replay.host().sites.Get(site))] += sum;
    }
  }
  std::string text;
  for (const auto& [stack, sum] : bytes) {
    absl::StrAppend(&text, stack, " ", std::llround(sum), "\n");
  }
  return text;
}

}  // namespace oom_forensics
