#include "converter/reader/graph_tensors.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/pool_name.h"

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
using Tensors = absl::flat_hash_map<std::pair<StringId, uint64_t>, Tensor>;

Tensors TensorsOfGraphs(const HostTrace& trace) {
  Tensors tensors;
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

// Returns the site with its tensor, or the same one where none is known.
SiteId WithTensor(SiteId id, const Tensors& tensors, SiteTable* sites) {
  AllocationSite site = sites->Get(id);
  if (site.shape != kEmptyString || site.dtype != 0 || site.compiled != 0) {
    return id;
  }
  const auto tensor = tensors.find({site.op, site.requested_bytes});
  if (tensor == tensors.end() || tensor->second.shape == kEmptyString) {
    return id;
  }
  site.shape = tensor->second.shape;
  site.dtype = tensor->second.dtype;
  return sites->Intern(site);
}

}  // namespace

void NameGraphTensors(HostTrace* trace) {
  const Tensors tensors = TensorsOfGraphs(*trace);
  if (tensors.empty()) return;
  for (AllocatorTrace& allocator : trace->allocators) {
    if (GpuOrdinalOf(allocator.name, allocator.device) < 0) continue;
    absl::flat_hash_map<SiteId, SiteId> named;
    std::vector<SiteId> sites = allocator.site.ToVector();
    for (Row row = 0; row < allocator.row_count(); ++row) {
      const RowKind kind = allocator.kind_of[row];
      // Of other rows it is no site.
      if (kind != RowKind::kAlloc && kind != RowKind::kFailed) continue;
      const SiteId id = sites[row];
      const auto [known, added] = named.try_emplace(id, id);
      if (added) known->second = WithTensor(id, tensors, &trace->sites);
      sites[row] = known->second;
    }
    allocator.site = std::move(sites);
  }
}

}  // namespace oom_forensics
