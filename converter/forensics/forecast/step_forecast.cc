#include "converter/forensics/forecast/step_forecast.h"

#include <algorithm>
#include <utility>

#include "converter/forensics/layout.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

// Requests below this part of the peak do not decide where the others lie; they
// are counted, but not placed while a limit is sought.
constexpr uint64_t kSmallShare = 4096;
// A limit is sought to this part of it.
constexpr double kLimitStep = 0.01;
// More than so many times its peak no order needs: a request may be refused for
// another reason (a layout that cannot be).
constexpr double kMostOverPeak = 4.0;
// Steps in which a limit is raised until all is served.
constexpr int kLimitSteps = 16;
// Each step divides a pool a little further, as long as its order is another:
// all orders follow one another so many times.
constexpr size_t kRounds = 3;
// XLA's blocks were within 0.2 % of what scaling them gives, or smaller by up
// to 6 % (docs/forecast.md): so large a part of one is to be spare.
constexpr uint64_t kLaidOutAnewMargin = 50;
// A batch that needs this part more than one of 1 is as good.
constexpr uint64_t kHopedForShare = 20;
// So many events late a thread may give back what it got.
constexpr size_t kMostLate = 8;

}  // namespace

const ForecastTrace* ForecastOf(const AllocatorReplay& replay, Row failure) {
  const int64_t step_id = replay.trace().ContextOf(failure).step_id;
  const bool is_last = !replay.failure_positions().empty() &&
                       replay.failure_positions().back() == failure;
  for (const ForecastTrace& forecast : replay.host().forecasts) {
    if (forecast.origin != "oom") continue;
    // A run is written at an OOM: without an id it is of the last one.
    if (forecast.step_id != 0 ? forecast.step_id == step_id : is_last) {
      return &forecast;
    }
  }
  return nullptr;
}

int64_t BatchToName(int64_t most) {
  constexpr int64_t kMultiple = 8;
  return most > kMultiple ? most - most % kMultiple : most;
}

StepForecastModel::StepForecastModel(const ForecastTrace& forecast,
                                     PoolBeforeStep pool)
    : forecast_(forecast), pool_(std::move(pool)) {
  for (const uint64_t bytes : pool_.live_bytes) {
    live_bytes_ += RoundedBytes(bytes);
  }
  scales_ = forecast.batch > 0 &&
            std::any_of(forecast.sites.begin(), forecast.sites.end(),
                        [](const ForecastSite& site) {
                          return site.per_example_bytes > 0;
                        });
  if (!has_orders() || pool_.refused_need_bytes == 0) return;
  const Need need = SimulatedNeed(batch());
  const uint64_t refused_bytes =
      std::max(pool_.refused_need_bytes, pool_.limit_bytes);
  if (need.high_bytes < refused_bytes && need.low_bytes > 0) {
    correction_ = static_cast<double>(refused_bytes) /
                  static_cast<double>(need.low_bytes);
  }
}

StepForecastModel StepForecastModel::With(PoolBeforeStep pool) const {
  // What was refused says nothing of another pool.
  pool.refused_need_bytes = 0;
  StepForecastModel other(forecast_, std::move(pool));
  other.correction_ = correction_;
  return other;
}

uint64_t StepForecastModel::BytesOf(const ForecastSite& site,
                                    int64_t batch) const {
  if (batch == 0 || !scales_) return site.requested_bytes;
  const auto of_batch =
      site.per_example_bytes * static_cast<uint64_t>(forecast_.batch);
  const uint64_t fixed =
      site.requested_bytes > of_batch ? site.requested_bytes - of_batch : 0;
  const uint64_t bytes =
      std::max(site.least_bytes,
               fixed + site.per_example_bytes * static_cast<uint64_t>(batch));
  if (!site.is_laid_out_anew || batch == forecast_.batch) return bytes;
  const uint64_t with_margin = bytes + bytes / kLaidOutAnewMargin;
  return batch < forecast_.batch ? std::min(site.requested_bytes, with_margin)
                                 : with_margin;
}

uint64_t StepForecastModel::PeakOf(const ForecastOrderTrace& order,
                                   int64_t batch) const {
  return live_bytes_ + StepsOf(batch, 0, nullptr).PeakOf(order);
}

BfcSettings StepForecastModel::SettingsOf(uint64_t limit_bytes) const {
  BfcSettings settings = pool_.settings;
  settings.limit_bytes = limit_bytes;
  return settings;
}

uint64_t StepForecastModel::HighestPeak(int64_t batch) const {
  uint64_t peak = 0;
  for (const ForecastOrderTrace& order : forecast_.orders) {
    peak = std::max(peak, PeakOf(order, batch));
  }
  return peak;
}

SuccessiveSteps StepForecastModel::StepsOf(int64_t batch, uint64_t from_bytes,
                                           BfcModel* model) const {
  std::vector<uint64_t> bytes;
  bytes.reserve(forecast_.sites.size());
  for (const ForecastSite& site : forecast_.sites) {
    bytes.push_back(BytesOf(site, batch));
  }
  return SuccessiveSteps(forecast_, pool_.element_sites, std::move(bytes),
                         from_bytes, model);
}

bool StepForecastModel::HoldsLive(uint64_t from_bytes, BfcModel* model) const {
  return std::all_of(
      pool_.live_bytes.begin(), pool_.live_bytes.end(), [&](uint64_t bytes) {
        return bytes < from_bytes || model->Allocate(bytes) != kNoChunk;
      });
}

bool StepForecastModel::IsServed(const ForecastOrderTrace& order, int64_t batch,
                                 uint64_t from_bytes,
                                 uint64_t limit_bytes) const {
  // A program that is started with another limit fills its pool anew.
  BfcModel model(SettingsOf(limit_bytes));
  if (!HoldsLive(from_bytes, &model)) return false;
  SuccessiveSteps steps = StepsOf(batch, from_bytes, &model);
  return !steps.Run(order).has_value() && !steps.Run(order).has_value();
}

bool StepForecastModel::AreAllServed(int64_t batch,
                                     uint64_t limit_bytes) const {
  if (!scales_) batch = 0;
  const auto known = all_served_.find({batch, limit_bytes});
  if (known != all_served_.end()) return known->second;
  const bool are_served =
      ServesAll(batch, limit_bytes, /*begins_with_pieces=*/false) &&
      (!HadOtherPieces(limit_bytes) ||
       ServesAll(batch, limit_bytes, /*begins_with_pieces=*/true));
  all_served_[{batch, limit_bytes}] = are_served;
  return are_served;
}

bool StepForecastModel::ServesAll(int64_t batch, uint64_t limit_bytes,
                                  bool begins_with_pieces) const {
  const std::vector<ForecastOrderTrace>& orders = forecast_.orders;
  const uint64_t from_bytes = HighestPeak(batch) / kSmallShare;
  const size_t count = orders.size();
  const auto serves = [&](size_t steps, const auto& order_of_step) {
    BfcModel model = begins_with_pieces
                         ? PoolInPieces(limit_bytes, /*with_live=*/false)
                         : BfcModel(SettingsOf(limit_bytes));
    if (!HoldsLive(from_bytes, &model)) return false;
    SuccessiveSteps successive = StepsOf(batch, from_bytes, &model);
    for (size_t step = 0; step < steps; ++step) {
      if (successive.Run(orders[order_of_step(step)], kMostLate).has_value()) {
        return false;
      }
    }
    return true;
  };
  // Each order once as the first: in what pieces the pool grows it decides.
  for (size_t first = 0; first < count; ++first) {
    if (!serves(count, [&](size_t step) { return (first + step) % count; })) {
      return false;
    }
  }
  return serves(kRounds * count,
                [&](size_t step) { return count - 1 - step % count; });
}

uint64_t StepForecastModel::SmallestLimit(const ForecastOrderTrace& order,
                                          int64_t batch) const {
  const uint64_t peak = PeakOf(order, batch);
  const uint64_t from_bytes = peak / kSmallShare;
  const auto is_enough = [&](uint64_t limit_bytes) {
    return IsServed(order, batch, from_bytes, limit_bytes);
  };
  const double step = static_cast<double>(peak) * kLimitStep;
  const auto limit = [&](int64_t steps) {
    return peak + static_cast<uint64_t>(step * static_cast<double>(steps));
  };
  int64_t enough = 0;
  int64_t too_little = -1;
  const auto most = static_cast<int64_t>((kMostOverPeak - 1) / kLimitStep);
  for (int64_t width = 1; !is_enough(limit(enough)); width *= 2) {
    if (enough >= most) return limit(most);
    too_little = enough;
    enough = std::min(most, enough + width);
  }
  while (enough - too_little > 1) {
    const int64_t middle = too_little + (enough - too_little) / 2;
    (is_enough(limit(middle)) ? enough : too_little) = middle;
  }
  return limit(enough);
}

Need StepForecastModel::NeedOf(int64_t batch) const {
  if (!scales_) batch = 0;
  const auto known = needs_.find(batch);
  if (known != needs_.end()) return known->second;
  const Need simulated = SimulatedNeed(batch);
  const Need need{Corrected(simulated.low_bytes),
                  Corrected(simulated.high_bytes)};
  needs_[batch] = need;
  return need;
}

uint64_t StepForecastModel::Corrected(uint64_t bytes) const {
  return static_cast<uint64_t>(static_cast<double>(bytes) * correction_);
}

Need StepForecastModel::SimulatedNeed(int64_t batch) const {
  Need need;
  for (const ForecastOrderTrace& order : forecast_.orders) {
    const uint64_t limit_bytes = SmallestLimit(order, batch);
    need.high_bytes = std::max(need.high_bytes, limit_bytes);
    need.low_bytes = need.low_bytes == 0
                         ? limit_bytes
                         : std::min(need.low_bytes, limit_bytes);
  }
  return need;
}

Fit StepForecastModel::FitOf(int64_t batch, uint64_t limit_bytes) const {
  if (!has_orders() || limit_bytes == 0) return Fit::kUnknown;
  if (NeedOf(batch).low_bytes > limit_bytes) return Fit::kDoesNotFit;
  if (IsTooLow()) return Fit::kUncertain;
  return WithMargin(batch, NeedOf(batch).high_bytes) <= limit_bytes &&
                 AreAllServed(batch, limit_bytes)
             ? Fit::kFits
             : Fit::kUncertain;
}

uint64_t StepForecastModel::EnoughLimit(int64_t batch) const {
  uint64_t limit_bytes = WithMargin(batch, NeedOf(batch).high_bytes);
  for (int i = 0; i < kLimitSteps && !AreAllServed(batch, limit_bytes); ++i) {
    limit_bytes += limit_bytes / kLimitSteps;
  }
  return limit_bytes;
}

uint64_t StepForecastModel::WithMargin(int64_t batch,
                                       uint64_t need_bytes) const {
  return need_bytes + AheadBytes(batch) +
         static_cast<uint64_t>((IsCorrected() ? kMarginIfCorrected : kMargin) *
                               static_cast<double>(need_bytes));
}

uint64_t StepForecastModel::AheadBytes(int64_t batch) const {
  uint64_t element_bytes = 0;
  const std::vector<uint32_t> requests =
      ElementRequests(forecast_, pool_.element_sites);
  for (size_t i = 0; i < requests.size(); ++i) {
    element_bytes +=
        requests[i] * RoundedBytes(BytesOf(forecast_.sites[i], batch));
  }
  return kElementsAhead * element_bytes;
}

int64_t StepForecastModel::LargestBatch(uint64_t limit_bytes,
                                        int64_t most) const {
  return LargestOf(most, [&](int64_t batch) {
    // No order needs less than it has at once, and that is soon told.
    return WithMargin(batch, Corrected(HighestPeak(batch))) <= limit_bytes &&
           FitOf(batch, limit_bytes) == Fit::kFits;
  });
}

int64_t StepForecastModel::LargestBatchToHopeFor(uint64_t limit_bytes,
                                                 int64_t most) const {
  const int64_t in_all_orders = LargestOf(most, [&](int64_t batch) {
    return Corrected(HighestPeak(batch)) <= limit_bytes &&
           NeedOf(batch).high_bytes <= limit_bytes;
  });
  if (in_all_orders > 0 || !scales_ || most < 1) return in_all_orders;
  // What some orders have at once does not always shrink with the batch.
  const int64_t in_one_order = LargestOf(most, [&](int64_t batch) {
    return WithMargin(batch, NeedOf(batch).low_bytes) <= limit_bytes;
  });
  if (in_one_order > 0) return in_one_order;
  // There is no more hope in 1 than in what needs nearly as little.
  const uint64_t least_bytes = NeedOf(1).low_bytes;
  const uint64_t most_bytes =
      std::min(limit_bytes, least_bytes + least_bytes / kHopedForShare);
  return LargestOf(most, [&](int64_t batch) {
    return NeedOf(batch).low_bytes <= most_bytes;
  });
}

int64_t StepForecastModel::LargestOf(
    int64_t most, const std::function<bool(int64_t)>& is_enough) const {
  if (!scales_ || most < 1) return 0;
  int64_t fits = 0;
  int64_t too_large = most + 1;
  while (too_large - fits > 1) {
    const int64_t middle = fits + (too_large - fits) / 2;
    (is_enough(middle) ? fits : too_large) = middle;
  }
  const int64_t named = BatchToName(fits);
  // A smaller step is not always served where a larger one is: it divides the
  // pool otherwise.
  return named == fits || is_enough(named) ? named : fits;
}

OrderOutcome StepForecastModel::OutcomeOf(
    const ForecastOrderTrace& order) const {
  OrderOutcome outcome;
  outcome.peak_in_use_bytes = PeakOf(order, 0);
  outcome.smallest_limit_bytes = SmallestLimit(order, 0);
  if (!pool_.layout.empty() && pool_.limit_bytes > 0) {
    BfcModel model = PoolInPieces(pool_.limit_bytes, /*with_live=*/true);
    outcome.refused_event = StepsOf(0, 0, &model).Run(order);
  }
  return outcome;
}

bool StepForecastModel::HadOtherPieces(uint64_t limit_bytes) const {
  uint64_t reserved_bytes = 0;
  std::vector<uint64_t> recorded;
  for (const RegionLayout& region : Pieces()) {
    reserved_bytes += region.size_bytes;
    recorded.push_back(region.size_bytes);
  }
  if (!pool_.settings.allow_growth || reserved_bytes > limit_bytes) {
    return false;
  }
  BfcModel anew(SettingsOf(limit_bytes));
  HoldsLive(0, &anew);
  std::vector<uint64_t> grown;
  for (const BfcRegion& region : anew.Regions()) {
    grown.push_back(region.size_bytes);
  }
  std::sort(recorded.begin(), recorded.end());
  std::sort(grown.begin(), grown.end());
  return !recorded.empty() && recorded != grown;
}

const Layout& StepForecastModel::Pieces() const {
  return pool_.pieces_at_refusal.empty() ? pool_.layout
                                         : pool_.pieces_at_refusal;
}

BfcModel StepForecastModel::PoolInPieces(uint64_t limit_bytes,
                                         bool with_live) const {
  std::vector<BfcRegion> regions;
  std::vector<BfcChunk> chunks;
  std::vector<uint64_t> sizes_bytes;
  for (const RegionLayout& region : with_live ? pool_.layout : Pieces()) {
    regions.push_back({region.address, region.size_bytes});
    sizes_bytes.push_back(region.size_bytes);
    if (!with_live) {
      chunks.push_back({region.address, region.size_bytes});
      continue;
    }
    for (const Block& block : region.blocks) {
      chunks.push_back({block.address, block.size_bytes, !block.free()});
    }
  }
  // Each is larger than the one before it.
  std::sort(sizes_bytes.begin(), sizes_bytes.end());
  const BfcSettings settings = SettingsOf(limit_bytes);
  return BfcModel(settings, nullptr, regions, chunks,
                  NextRegionBytes(settings, sizes_bytes));
}

}  // namespace oom_forensics
