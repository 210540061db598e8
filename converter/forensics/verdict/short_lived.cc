#include "converter/forensics/verdict/short_lived.h"

#include <algorithm>
#include <vector>

#include "converter/cancellation/cancellation.h"

namespace oom_forensics {

ShortLived FindShortLived(const OomCase& oom) {
  struct Siblings {
    uint64_t finished = 0;
    Row longest_rows = 0;
  };
  const AllocatorReplay& replay = oom.replay();
  const AllocatorTrace& trace = replay.trace();
  // Both by site, which are few beside the rows.
  const SiteTable& sites = replay.host().sites;
  std::vector<Siblings> siblings(sites.size());
  std::vector<bool> is_like_refused(sites.size());
  for (SiteId id = 0; id < sites.size(); ++id) {
    const AllocationSite& site = sites.Get(id);
    is_like_refused[id] = site.op == oom.site().op &&
                          site.shape == oom.site().shape &&
                          site.requested_bytes == oom.requested_bytes();
  }
  const std::vector<StepSpan>& steps = oom.steps().spans();
  // Where the request was last served, by completed step.
  std::vector<Row> last_served(steps.size(), kNoRow);
  for (Row row = 0; row < oom.failure(); ++row) {
    StopIfCancelled(row);
    if (trace.kind_of[row] == RowKind::kFree) {
      const Row alloc = replay.PartnerOf(row);
      if (alloc == kNoRow) continue;
      Siblings& of_site = siblings[trace.site[alloc]];
      ++of_site.finished;
      of_site.longest_rows = std::max(of_site.longest_rows, row - alloc);
      continue;
    }
    if (trace.kind_of[row] != RowKind::kAlloc ||
        !is_like_refused[trace.site[row]]) {
      continue;
    }
    const int64_t step = oom.steps().IndexOf(row);
    if (step >= 0 && row < steps.back().end) {
      last_served[static_cast<size_t>(step)] = row;
    }
  }
  ShortLived found;
  for (size_t step = 0; step < steps.size(); ++step) {
    if (last_served[step] == kNoRow) continue;
    ++found.served_before;
    found.most_in_use_bytes = std::max(
        found.most_in_use_bytes, replay.usage()
                                     .Over(steps[step].begin, last_served[step])
                                     .in_use_max_bytes);
  }
  for (const Row row : oom.live()) {
    const Siblings& of_site = siblings[trace.site[row]];
    if (of_site.finished < kMinShortLivedSiblings ||
        of_site.longest_rows > kShortLifeRows) {
      continue;
    }
    found.bytes += replay.BytesOf(row);
    ++found.count;
  }
  return found;
}

}  // namespace oom_forensics
