#include "converter/datasets/what_if_batch.h"

#include <algorithm>
#include <vector>

#include "converter/forensics/forecast/compiled_forecast.h"
#include "converter/forensics/forecast/step_forecast.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// As it was forecast, or XLA planned it; null: no step was.
std::shared_ptr<const ForecastTrace> ForecastIn(const AllocatorReplay& replay) {
  if (replay.failure_positions().empty()) return nullptr;
  const Row failure = replay.failure_positions().front();
  const ForecastTrace* const graph = ForecastOf(replay, failure);
  return graph == nullptr ? nullptr
                          : ForecastAsCompiled(replay, failure, *graph);
}

}  // namespace

WhatIfBatch::WhatIfBatch(const SelectedAllocator& allocator)
    : host_(allocator.host->trace()), found_(BatchOf(allocator)) {
  const auto forecast = ForecastIn(*allocator.replay);
  if (forecast == nullptr || forecast->batch <= 0) return;
  for (const ForecastSite& site : forecast->sites) {
    if (site.requested_bytes == 0) continue;
    const double share = static_cast<double>(site.per_example_bytes) *
                         static_cast<double>(forecast->batch) /
                         static_cast<double>(site.requested_bytes);
    const std::string op(StripCallPrefix(host_.strings.Get(site.op)));
    shares_[{op, site.requested_bytes}] = std::min(1.0, share);
    if (share > 0) forecast_size_ = forecast->batch;
  }
  if (forecast_size_ == 0) shares_.clear();
}

int64_t WhatIfBatch::size() const {
  if (forecast_size_ != 0) return forecast_size_;
  return found_->batch.has_value() ? found_->batch->size() : 0;
}

std::optional<double> WhatIfBatch::ForecastShareOf(
    const AllocationSite& site) const {
  if (shares_.empty()) return std::nullopt;
  const auto share = shares_.find(
      {std::string(StripCallPrefix(host_.OpOf(site))), site.requested_bytes});
  if (share == shares_.end()) return std::nullopt;
  return share->second;
}

double WhatIfBatch::ShapeShareOf(const AllocationSite& site) const {
  std::vector<int64_t> dims;
  const bool grows = found_->batch.has_value() &&
                     ParseShape(host_.ShapeOf(site), &dims) &&
                     found_->batch->PositionIn(host_.OpOf(site), dims);
  return grows ? 1 : 0;
}

}  // namespace oom_forensics
