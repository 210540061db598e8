#include "converter/cache/soundness.h"

#include <cstdint>

namespace oom_forensics {
namespace {

bool IsTraceSound(const HostTrace& host, const AllocatorTrace& trace) {
  const Row rows = trace.row_count();
  bool sound = trace.time_ps.size() == rows && trace.address.size() == rows &&
               trace.site.size() == rows && trace.context.size() == rows &&
               trace.baseline_rows <= rows &&
               trace.baseline_age_ns.size() <= rows &&
               (trace.weights.empty() || trace.weights.size() == rows);
  if (!sound) return false;
  const auto sites = static_cast<SiteId>(host.sites.size());
  const size_t contexts = trace.contexts.size();
  for (Row row = 0; row < rows; ++row) {
    const RowKind kind = trace.kind_of[row];
    const bool is_region =
        kind == RowKind::kRegionAdd || kind == RowKind::kRegionRemove;
    sound &= kind <= RowKind::kRegionRemove;
    // Of any row, as some are looked at before their kind is.
    sound &= trace.site[row] < sites;
    sound &= !is_region | (trace.site[row] < trace.regions.size());
    sound &= trace.context[row] < contexts;
  }
  for (Row row = trace.baseline_rows + 1; row < rows; ++row) {
    sound &= trace.time_ps[row - 1] <= trace.time_ps[row];
  }
  for (const FailedRequest& failure : trace.failures) {
    sound &= failure.row < rows;
  }
  for (const RegionChange& region : trace.regions) sound &= region.row < rows;
  return sound;
}

bool AreSitesSound(const HostTrace& host) {
  const auto texts = static_cast<StringId>(host.strings.size());
  bool sound = true;
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    const AllocationSite& site = host.sites.Get(id);
    sound &= site.op < texts && site.shape < texts && site.region_type < texts;
    sound &= site.compiled <= host.compiled_requests.size();
  }
  return sound;
}

}  // namespace

bool IsSound(const ReplayedHost& host) {
  if (!AreSitesSound(*host.trace)) return false;
  if (host.allocators.size() != host.trace->allocators.size()) return false;
  for (const auto& replay : host.allocators) {
    if (!IsTraceSound(*host.trace, replay->trace()) || !replay->IsSound()) {
      return false;
    }
  }
  return true;
}

}  // namespace oom_forensics
