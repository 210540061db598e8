#include "converter/counterfactual/batch_shares.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// In the name of the op that takes the next element from a pipeline.
constexpr char kElementOp[] = "IteratorGetNext";

}  // namespace

bool TakesElement(const std::string& op) {
  return absl::StrContains(op, kElementOp);
}

bool MayBeElement(const AllocationSite& site) {
  return site.stack == kNoStack && site.mode != SiteMode::kEager;
}

BatchShares::BatchShares(const HostTrace& host, const ForecastTrace* forecast,
                         std::optional<BatchDimension> found)
    : host_(host), found_(std::move(found)) {
  if (forecast == nullptr || forecast->batch <= 0) return;
  for (const ForecastSite& site : forecast->sites) {
    if (site.requested_bytes == 0) continue;
    const double share = static_cast<double>(site.per_example_bytes) *
                         static_cast<double>(forecast->batch) /
                         static_cast<double>(site.requested_bytes);
    const std::string& op = host.strings.Get(site.op);
    shares_[{std::string(StripCallPrefix(op)), site.requested_bytes}] =
        std::min(1.0, share);
    if (share <= 0) continue;
    forecast_size_ = forecast->batch;
    if (TakesElement(op)) element_bytes_.insert(site.requested_bytes);
  }
  if (forecast_size_ == 0) shares_.clear();
}

int64_t BatchShares::size() const {
  if (forecast_size_ != 0) return forecast_size_;
  return found_.has_value() ? found_->size() : 0;
}

std::optional<double> BatchShares::ForecastShareOf(
    const AllocationSite& site) const {
  if (shares_.empty()) return std::nullopt;
  const auto share = shares_.find(
      {std::string(StripCallPrefix(host_.OpOf(site))), site.requested_bytes});
  if (share != shares_.end()) return share->second;
  // Another op of the pipeline made it.
  if (element_bytes_.contains(site.requested_bytes) && MayBeElement(site)) {
    return 1.0;
  }
  return std::nullopt;
}

double BatchShares::ShapeShareOf(const AllocationSite& site) const {
  std::vector<int64_t> dims;
  const bool grows = found_.has_value() &&
                     ParseShape(host_.ShapeOf(site), &dims) &&
                     found_->PositionIn(host_.OpOf(site), dims);
  return grows ? 1 : 0;
}

double BatchShares::ShareOf(const AllocationSite& site) const {
  const std::optional<double> forecast = ForecastShareOf(site);
  return forecast.has_value() ? *forecast : ShapeShareOf(site);
}

}  // namespace oom_forensics
