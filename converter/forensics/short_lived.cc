#include "converter/forensics/short_lived.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"

namespace oom_forensics {

ShortLived FindShortLived(const OomCase& oom) {
  struct Siblings {
    uint64_t finished = 0;
    Row longest_rows = 0;
  };
  const AllocatorReplay& replay = oom.replay();
  const AllocatorTrace& trace = replay.trace();
  absl::flat_hash_map<SiteId, Siblings> siblings;
  ShortLived found;
  int64_t last_step = -1;
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
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    const AllocationSite& site = replay.SiteOf(row);
    const int64_t step = oom.steps().IndexOf(row);
    if (step > last_step && row < oom.steps().spans().back().end &&
        site.op == oom.site().op && site.shape == oom.site().shape &&
        site.requested_bytes == oom.requested_bytes()) {
      ++found.served_before;
      last_step = step;
    }
  }
  for (const Row row : oom.live()) {
    const auto of_site = siblings.find(trace.site[row]);
    if (of_site == siblings.end() ||
        of_site->second.finished < kMinShortLivedSiblings ||
        of_site->second.longest_rows > kShortLifeRows) {
      continue;
    }
    found.bytes += replay.BytesOf(row);
    ++found.count;
  }
  return found;
}

}  // namespace oom_forensics
