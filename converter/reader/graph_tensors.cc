#include "converter/reader/graph_tensors.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace oom_forensics {
namespace {

struct Tensor {
  StringId shape = kEmptyString;
  int32_t dtype = 0;

  friend bool operator==(const Tensor& a, const Tensor& b) {
    return a.shape == b.shape && a.dtype == b.dtype;
  }
};

// By op and bytes; without a shape where several have been seen.
absl::flat_hash_map<std::pair<StringId, uint64_t>, Tensor> TensorsOfGraphs(
    const HostTrace& trace) {
  absl::flat_hash_map<std::pair<StringId, uint64_t>, Tensor> tensors;
  for (const ForecastTrace& forecast : trace.forecasts) {
    for (const ForecastSite& site : forecast.sites) {
      if (site.op == kEmptyString || site.shape == kEmptyString) continue;
      const Tensor tensor{site.shape, site.dtype};
      const auto [known, added] =
          tensors.try_emplace({site.op, site.requested_bytes}, tensor);
      if (!added && !(known->second == tensor)) known->second = {};
    }
  }
  return tensors;
}

}  // namespace

void NameGraphTensors(HostTrace* trace) {
  const auto tensors = TensorsOfGraphs(*trace);
  if (tensors.empty()) return;
  // What becomes equal becomes one site.
  SiteTable sites;
  std::vector<SiteId> new_ids(trace->sites.size());
  bool is_changed = false;
  for (SiteId id = 0; id < trace->sites.size(); ++id) {
    AllocationSite site = trace->sites.Get(id);
    if (site.shape == kEmptyString && site.dtype == 0 && site.compiled == 0) {
      const auto tensor = tensors.find({site.op, site.requested_bytes});
      if (tensor != tensors.end() && tensor->second.shape != kEmptyString) {
        site.shape = tensor->second.shape;
        site.dtype = tensor->second.dtype;
        is_changed = true;
      }
    }
    new_ids[id] = sites.Intern(site);
  }
  if (!is_changed) return;
  for (AllocatorTrace& allocator : trace->allocators) {
    for (SiteId& site : allocator.site) site = new_ids[site];
  }
  trace->sites = std::move(sites);
}

}  // namespace oom_forensics
