#include "converter/compiled/module_plan.h"

#include <algorithm>
#include <utility>

#include "converter/trace/allocator_trace_writer.h"

namespace oom_forensics {
namespace {

// Null where a run asks for nothing.
const CompiledAllocation* LargestOf(const CompiledModule& module) {
  const CompiledAllocation* largest = nullptr;
  for (const CompiledAllocation& allocation : module.allocations) {
    if (IsAskedFor(allocation) &&
        (largest == nullptr || allocation.size_bytes > largest->size_bytes)) {
      largest = &allocation;
    }
  }
  return largest;
}

}  // namespace

bool IsAskedFor(const CompiledAllocation& allocation) {
  return allocation.size_bytes > 0 && (allocation.kind == BufferKind::kTemp ||
                                       allocation.kind == BufferKind::kOutput);
}

ModulePlan::ModulePlan(const CompiledModule& module, int64_t batch)
    : module_(module) {
  const CompiledAllocation* const largest = LargestOf(module);
  if (batch <= 0 || largest == nullptr) return;
  BlockBatch known(module, batch);
  if (known.ShareOf(*largest).bytes * 2 < largest->size_bytes) return;
  batch_.emplace(std::move(known));
}

std::vector<ForecastSite> ModulePlan::Planned(StringId op, int64_t from,
                                              Reading reading) const {
  std::vector<ForecastSite> sites;
  for (const CompiledAllocation& allocation : module_.allocations) {
    // They are asked for in the order of their numbers.
    if (allocation.index >= from && IsAskedFor(allocation)) {
      sites.push_back(SiteOf(op, allocation, reading));
    }
  }
  return sites;
}

std::vector<ForecastSite> ModulePlan::FreshResults(StringId op,
                                                   size_t from) const {
  std::vector<ForecastSite> sites;
  for (size_t i = from; i < module_.fresh_results.size(); ++i) {
    sites.push_back(SiteOf(op, module_.fresh_results[i], Reading::kByShape));
  }
  return sites;
}

ForecastSite ModulePlan::SiteOf(StringId op,
                                const CompiledAllocation& allocation,
                                Reading reading) const {
  ForecastSite site;
  site.op = op;
  // The file may be damaged.
  site.requested_bytes = std::min(kMaxChunkBytes, allocation.size_bytes);
  if (!batch_.has_value()) return site;
  const bool surely = reading == Reading::kSure;
  const BlockBatch::Share share = batch_->ShareOf(allocation);
  site.per_example_bytes =
      std::min(site.requested_bytes, surely ? share.sure_bytes : share.bytes) /
      static_cast<uint64_t>(batch_->size());
  site.least_bytes =
      std::min(site.requested_bytes, batch_->LeastBytesOf(allocation, surely));
  site.is_laid_out_anew = surely && site.per_example_bytes > 0;
  return site;
}

}  // namespace oom_forensics
