#include "converter/datasets/what_if_change.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/datasets/cached_timelines.h"
#include "converter/forensics/causes/block_resize.h"
#include "converter/trace/op_name.h"
#include "core/data_types.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

constexpr double kLargestScale = 1024;
// No request grows beyond it.
constexpr double kMostBytes = 4611686018427387904.0;  // 2^62

// Types that one may be in the place of another.
bool IsFloatType(std::string_view name) {
  constexpr std::string_view kFloatTypes[] = {"float64", "float32", "float16",
                                              "bfloat16"};
  return std::find(std::begin(kFloatTypes), std::end(kFloatTypes), name) !=
         std::end(kFloatTypes);
}

// What requests become, by their sites.
class SiteFactors {
 public:
  explicit SiteFactors(const HostTrace& host)
      : host_(host), factors_(host.sites.size(), 1.0) {}

  // Multiplies the factor of each site for which `matches(site)` is true by
  // what `factor(site)` says. Returns whether there is any.
  template <typename Matches, typename Factor>
  bool Multiply(Matches matches, Factor factor) {
    bool any = false;
    for (SiteId id = 0; id < host_.sites.size(); ++id) {
      const AllocationSite& site = host_.sites.Get(id);
      if (!matches(site)) continue;
      factors_[id] *= factor(site);
      any = true;
    }
    return any;
  }

  // A block that XLA laid out changes as its buffers do.
  void ApplyToBlocks() {
    for (const auto& [block, parts] : host_.block_parts) {
      Resize(block, MeanOfParts(
                        parts, [this](SiteId part) { return factors_[part]; }));
    }
  }

  // Makes what grows with the batch `scale` times as large.
  void Scale(const BatchShares& batch, double scale) {
    for (SiteId id = 0; id < host_.sites.size(); ++id) {
      const AllocationSite& site = host_.sites.Get(id);
      const auto forecast = batch.ForecastShareOf(site);
      const auto block = host_.block_parts.find(id);
      if (forecast.has_value()) {
        factors_[id] *= 1 + *forecast * (scale - 1);
      } else if (block == host_.block_parts.end()) {
        factors_[id] *= 1 + batch.ShapeShareOf(site) * (scale - 1);
      } else {
        const double share = MeanOfParts(block->second, [&](SiteId part) {
          return batch.ShapeShareOf(host_.sites.Get(part));
        });
        Resize(id, 1 + share * (scale - 1));
      }
    }
  }

  bool IsLeftOut(SiteId site) const { return factors_[site] == 0; }
  bool IsChanged(SiteId site) const { return factors_[site] != 1; }
  uint64_t Resized(SiteId site, uint64_t bytes) const {
    if (!IsChanged(site) || bytes == 0) return bytes;
    const double resized =
        std::min(static_cast<double>(bytes) * factors_[site], kMostBytes);
    return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(resized)));
  }

 private:
  // What `of(site)` says of the parts of a block, by their bytes.
  template <typename Of>
  double MeanOfParts(const std::vector<SitePart>& parts, Of of) const {
    double bytes = 0;
    double weighed = 0;
    for (const SitePart& part : parts) {
      const auto part_bytes =
          static_cast<double>(host_.sites.Get(part.site).requested_bytes);
      bytes += part_bytes;
      weighed += part_bytes * of(part.site);
    }
    return bytes == 0 ? 1 : weighed / bytes;
  }

  // What becomes smaller inside a block leaves some of it unused.
  void Resize(SiteId block, double factor) {
    if (factor > 0 && factor < 1) {
      factor =
          std::min(1.0, factor * (1 + 1 / static_cast<double>(kLayoutMargin)));
    }
    factors_[block] *= factor;
  }

  const HostTrace& host_;
  std::vector<double> factors_;
};

absl::Status LeaveOut(const HostTrace& host, const std::string& scope,
                      SiteFactors* factors) {
  const bool any = factors->Multiply(
      [&](const AllocationSite& site) {
        const std::string& op = host.OpOf(site);
        return !op.empty() && IsInScope(op, scope);
      },
      [](const AllocationSite&) { return 0.0; });
  return any ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat(
                   "No op of this trace is at or below the scope \"", scope,
                   "\"."));
}

absl::Status ScaleBatch(const SelectedAllocator& allocator, double scale,
                        SiteFactors* factors) {
  if (!(scale > 0) || scale > kLargestScale) {
    return absl::InvalidArgumentError(
        absl::StrCat("The batch cannot be scaled by ", scale, "."));
  }
  const BatchShares batch = BatchSharesOf(allocator);
  if (batch.size() == 0) {
    return absl::InvalidArgumentError(
        "The shapes of this trace do not show a batch size, so it cannot be "
        "scaled.");
  }
  factors->Scale(batch, scale);
  return absl::OkStatus();
}

absl::Status ChangeDtype(const HostTrace& host, const WhatIfDtype& change,
                         SiteFactors* factors) {
  if (!IsFloatType(change.dtype())) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", change.dtype(),
                     "\" is not one of float64, float32, float16, bfloat16."));
  }
  const double wanted_bytes = DtypeBytes(DtypeOf(change.dtype()));
  const bool any = factors->Multiply(
      [&](const AllocationSite& site) {
        return IsFloatType(DtypeName(site.dtype)) &&
               IsInScope(host.OpOf(site), change.scope());
      },
      [&](const AllocationSite& site) {
        return wanted_bytes / DtypeBytes(site.dtype);
      });
  return any ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat(
                   "No tensor of floating point numbers is known at or below "
                   "the scope \"",
                   change.scope(), "\"."));
}

// How much of what counts the changes reach: at the first OOM, else the peak.
std::string Reach(const SelectedAllocator& allocator,
                  const SiteFactors& factors) {
  const AllocatorReplay& replay = *allocator.replay;
  uint64_t all_bytes = 0;
  uint64_t changed_bytes = 0;
  for (const Row row : replay.LiveAt(DecisivePosition(replay))) {
    all_bytes += replay.BytesOf(row);
    if (factors.IsChanged(replay.trace().site[row])) {
      changed_bytes += replay.BytesOf(row);
    }
  }
  return absl::StrCat(
      "Only sizes of recorded requests were changed, of ",
      FormatBytes(changed_bytes), " of the ", FormatBytes(all_bytes),
      replay.failure_positions().empty() ? " in use at the peak"
                                         : " in use at the out-of-memory",
      "; what else the job would then request, or no longer request, is not "
      "known.");
}

absl::Status ChangeRequests(const SelectedAllocator& allocator,
                            const WhatIfSettings& settings,
                            SiteFactors* factors) {
  const HostTrace& host = allocator.host->trace();
  absl::Status status;
  for (const std::string& scope : settings.without_scope()) {
    status.Update(LeaveOut(host, scope, factors));
  }
  for (const WhatIfDtype& change : settings.dtype()) {
    status.Update(ChangeDtype(host, change, factors));
  }
  factors->ApplyToBlocks();
  if (settings.batch_scale() != 0) {
    status.Update(ScaleBatch(allocator, settings.batch_scale(), factors));
  }
  return status;
}

}  // namespace

absl::StatusOr<WhatIfChange> MakeWhatIfChange(
    const SelectedAllocator& allocator, const WhatIfSettings& settings) {
  WhatIfChange change;
  Scenario& scenario = change.scenario;
  if (settings.has_limit_bytes()) {
    if (settings.limit_bytes() == 0) {
      return absl::InvalidArgumentError("A limit of 0 bytes makes no sense.");
    }
    scenario.limit_bytes = settings.limit_bytes();
  }
  if (settings.has_growth()) {
    scenario.one_region = !settings.growth();
    scenario.grows = settings.growth();
  }
  if (settings.has_garbage_collection()) {
    scenario.garbage_collection = settings.garbage_collection();
  }
  if (settings.without_scope().empty() && settings.batch_scale() == 0 &&
      settings.dtype().empty()) {
    return change;
  }
  const auto factors = std::make_shared<SiteFactors>(allocator.host->trace());
  absl::Status changed = ChangeRequests(allocator, settings, factors.get());
  if (!changed.ok()) return changed;
  const auto& site_of = allocator.replay->trace().site;
  scenario.is_left_out = [factors, &site_of](Row row) {
    return factors->IsLeftOut(site_of[row]);
  };
  scenario.resized = [factors, &site_of](Row row, uint64_t bytes) {
    return factors->Resized(site_of[row], bytes);
  };
  change.doubts.push_back(Reach(allocator, *factors));
  return change;
}

}  // namespace oom_forensics
