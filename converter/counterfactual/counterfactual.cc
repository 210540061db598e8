#include "converter/counterfactual/counterfactual.h"

#include <algorithm>
#include <cmath>

#include "converter/counterfactual/likely_orders.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// Requests below this part of the peak do not decide where the others lie; they
// are counted, but not placed.
constexpr uint64_t kSmallShare = 4096;
// A limit is sought in these parts of the peak, up to so many times it: a
// request may be refused for another reason (a layout that cannot be).
constexpr uint64_t kLimitParts = 100;
constexpr uint64_t kMostTimesThePeak = 4;
// Limits above the need that are tried, where the need is not enough; and below
// the first that is, as the need was sought in steps larger than a MiB.
constexpr int kTriesAbove = 32;
constexpr int kTriesBelow = 8;
// XLA's blocks were within 0.2 % of what scaling them gives, or smaller by up
// to 6 % (docs/forecast.md): so large a part of one is to be spare.
constexpr uint64_t kLaidOutAnewMargin = 50;
// The largest batch is sought to this part of it.
constexpr int64_t kBatchParts = 128;
// More than any pool has.
constexpr uint64_t kNoLimit = uint64_t{1} << 62;
// So many elements beside the step's own a pipeline is tried with, those that
// were recorded among them; where more were recorded, with these. A buffer that
// tf.data tunes itself may come to hold more.
constexpr size_t kElementsAhead = 3;
// So many events late a thread may give back what it got.
constexpr size_t kMostLate = 8;
// Each step divides a pool a little further: all orders follow one another so
// many times.
constexpr size_t kRounds = 3;

}  // namespace

const ForecastTrace* ForecastOf(const AllocatorReplay& replay, Row failure) {
  const int64_t step_id = replay.trace().ContextOf(failure).step_id;
  const bool is_last = !replay.failure_positions().empty() &&
                       replay.failure_positions().back() == failure;
  for (const ForecastTrace& forecast : replay.host().forecasts) {
    const bool is_of_pool =
        forecast.allocator.empty() || forecast.allocator == replay.trace().name;
    if (forecast.origin != "oom" || !is_of_pool) continue;
    // A run is written at an OOM: without an id it is of the last one.
    if (forecast.step_id != 0 ? forecast.step_id == step_id : is_last) {
      return &forecast;
    }
  }
  return nullptr;
}

Counterfactual::Counterfactual(std::shared_ptr<const ForecastTrace> forecast,
                               StepStream stream)
    : trace_(std::move(forecast)),
      stream_(std::make_shared<const StepStream>(std::move(stream))) {
  scales_ = trace_->batch > 0 &&
            std::any_of(trace_->sites.begin(), trace_->sites.end(),
                        [](const ForecastSite& site) {
                          return site.per_example_bytes > 0;
                        });
  LikelyOrders likely = FindLikelyOrders(*trace_, *stream_);
  orders_ = std::move(likely.numbers);
  held_more_ = likely.held_more;
}

Counterfactual Counterfactual::Under(Scenario change) const {
  const bool is_change = change.resized || change.is_left_out ||
                         change.one_region || change.grows ||
                         change.garbage_collection.has_value();
  if (!is_change) return *this;
  Counterfactual other = *this;
  other.unchanged_ = unchanged_ != nullptr
                         ? unchanged_
                         : std::make_shared<const Counterfactual>(*this);
  other.change_ = Together(change_, change);
  other.change_.limit_bytes.reset();
  other.at_.reset();
  other.needs_.clear();
  other.some_served_.clear();
  other.all_served_.clear();
  return other;
}

uint64_t Counterfactual::BytesOf(const ForecastSite& site,
                                 int64_t batch) const {
  uint64_t bytes = site.requested_bytes;
  if (batch != 0 && scales_) {
    const auto of_batch =
        site.per_example_bytes * static_cast<uint64_t>(trace_->batch);
    const uint64_t fixed = bytes > of_batch ? bytes - of_batch : 0;
    bytes =
        std::max(site.least_bytes,
                 fixed + site.per_example_bytes * static_cast<uint64_t>(batch));
    if (site.is_laid_out_anew && batch != trace_->batch) {
      const uint64_t with_margin = bytes + bytes / kLaidOutAnewMargin;
      bytes = batch < trace_->batch
                  ? std::min(site.requested_bytes, with_margin)
                  : with_margin;
    }
  }
  return change_.resized && site.like != kNoRow
             ? change_.resized(site.like, bytes)
             : bytes;
}

std::vector<uint64_t> Counterfactual::SiteBytes(int64_t batch) const {
  std::vector<uint64_t> bytes;
  bytes.reserve(trace_->sites.size());
  for (const ForecastSite& site : trace_->sites) {
    bytes.push_back(BytesOf(site, batch));
  }
  return bytes;
}

Scenario Counterfactual::ChangeAt(int64_t batch) const {
  const bool is_same = batch == 0 || batch == trace_->batch || !scales_ ||
                       stream_->shares == nullptr;
  if (is_same) return change_;
  Scenario scaled;
  const double scale =
      static_cast<double>(batch) / static_cast<double>(trace_->batch);
  scaled.resized = [stream = stream_, scale](Row row, uint64_t bytes) {
    const double share = stream->shares->ShareOf(stream->replay->SiteOf(row));
    if (share == 0) return bytes;
    return std::max<uint64_t>(
        1, static_cast<uint64_t>(std::llround(static_cast<double>(bytes) *
                                              (1 + share * (scale - 1)))));
  };
  return Together(change_, scaled);
}

uint64_t Counterfactual::LiveBytes(int64_t batch) const {
  if (stream_->replay == nullptr) return RoundedBytes(stream_->held_bytes);
  const Scenario change = ChangeAt(batch);
  uint64_t sum = 0;
  for (const Row row : stream_->live_rows) {
    if (change.is_left_out && change.is_left_out(row)) continue;
    const uint64_t bytes = stream_->replay->SiteOf(row).requested_bytes;
    sum += RoundedBytes(change.resized ? change.resized(row, bytes) : bytes);
  }
  for (const Row row : stream_->taken_rows) {
    sum -= std::min(sum,
                    RoundedBytes(stream_->replay->SiteOf(row).requested_bytes));
  }
  return sum;
}

void Counterfactual::TakeElements(const ForecastOrderTrace& order,
                                  ServedPool* pool) const {
  const auto give_back = [&](Row row) {
    const auto chunk = pool->chunk_of.find(row);
    if (chunk != pool->chunk_of.end()) pool->model->Free(chunk->second);
  };
  for (const Row row : stream_->taken_rows) give_back(row);
  std::vector<size_t> taken(stream_->element_rows.size());
  for (const ForecastEvent& event : order.events) {
    if (event.is_free || event.index >= taken.size()) continue;
    const std::vector<Row>& rows = stream_->element_rows[event.index];
    size_t& count = taken[event.index];
    if (count < rows.size()) give_back(rows[rows.size() - ++count]);
  }
}

Counterfactual::AtBatch& Counterfactual::At(int64_t batch) const {
  if (at_ != nullptr && at_->batch == batch) return *at_;
  at_ = std::make_shared<AtBatch>();
  at_->batch = batch;
  const std::vector<uint64_t> bytes = SiteBytes(batch);
  const uint64_t live_bytes = LiveBytes(batch);
  for (const ForecastOrderTrace& order : trace_->orders) {
    std::vector<size_t> taken(stream_->element_rows.size());
    uint64_t taken_bytes = 0;
    for (const ForecastEvent& event : order.events) {
      if (event.is_free || event.index >= taken.size()) continue;
      if (taken[event.index] < stream_->element_rows[event.index].size()) {
        ++taken[event.index];
        taken_bytes += RoundedBytes(bytes[event.index]);
      }
    }
    at_->steps.emplace_back(*trace_, stream_->element_sites, bytes, order);
    const uint64_t before_bytes =
        live_bytes - std::min(live_bytes, taken_bytes);
    const PlannedStep& step = at_->steps.back();
    at_->peaks.push_back(before_bytes + step.PeakBytes());
    const uint64_t least_bytes = before_bytes + step.LeastPeakBytes();
    const bool is_first = at_->peaks.size() == 1;
    at_->least.low_bytes =
        is_first ? least_bytes : std::min(at_->least.low_bytes, least_bytes);
    at_->least.high_bytes = std::max(at_->least.high_bytes, least_bytes);
    at_->from_bytes =
        std::max(at_->from_bytes, at_->peaks.back() / kSmallShare);
  }
  for (PlannedStep& step : at_->steps) step.LeaveOut(at_->from_bytes);
  return *at_;
}

Need Counterfactual::PeakOf(int64_t batch) const {
  const std::vector<uint64_t>& peaks = PeaksOf(batch);
  if (peaks.empty()) return {};
  const auto [low, high] = std::minmax_element(peaks.begin(), peaks.end());
  return {*low, *high};
}

ServedPool* Counterfactual::PoolUnder(uint64_t limit_bytes, AtBatch* at,
                                      std::optional<ServedPool>* own) const {
  Scenario change = ChangeAt(at->batch);
  const BfcSettings settings = Changed(stream_->settings, change);
  const bool is_same_at_first =
      settings.allow_growth && settings.fragmentation_fraction == 0;
  if (is_same_at_first && !at->pool.has_value()) {
    change.limit_bytes = kNoLimit;
    at->pool = stream_->PoolUnder(change, at->from_bytes);
    if (at->pool.has_value()) {
      at->pool->model->KeepJournal();
      at->begin = at->pool->model->Now();
    }
  }
  if (at->pool.has_value() && at->begin.reserved_bytes <= limit_bytes) {
    at->pool->model->GoBack(at->begin);
    at->pool->model->SetLimit(limit_bytes);
    return &*at->pool;
  }
  change.limit_bytes = limit_bytes;
  *own = stream_->PoolUnder(change, at->from_bytes);
  if (!own->has_value()) return nullptr;
  (*own)->model->KeepJournal();
  return &**own;
}

std::vector<size_t> Counterfactual::ElementRequests() const {
  std::vector<size_t> fewest(stream_->element_sites.size());
  size_t fewest_sum = SIZE_MAX;
  for (const size_t i : orders_) {
    std::vector<size_t> requests(fewest.size());
    size_t sum = 0;
    for (const ForecastEvent& event : trace_->orders[i].events) {
      if (event.is_free || event.index >= requests.size() ||
          !stream_->element_sites[event.index]) {
        continue;
      }
      ++requests[event.index];
      ++sum;
    }
    // Some orders also make the element of the next step.
    if (sum >= fewest_sum) continue;
    fewest_sum = sum;
    fewest = std::move(requests);
  }
  return fewest;
}

size_t Counterfactual::MostAhead() const {
  size_t most = 0;
  const std::vector<size_t> requests = ElementRequests();
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] == 0) continue;
    const size_t recorded = i < stream_->element_rows.size()
                                ? stream_->element_rows[i].size() / requests[i]
                                : 0;
    // One of them is the step's own.
    most = std::max(
        most, kElementsAhead + 1 - std::min(kElementsAhead + 1, recorded));
  }
  return std::min(most, kElementsAhead);
}

bool Counterfactual::PutAhead(const AtBatch& at, size_t ahead,
                              BfcModel* model) const {
  const std::vector<uint64_t> bytes = SiteBytes(at.batch);
  const std::vector<size_t> requests = ElementRequests();
  for (size_t i = 0; i < requests.size(); ++i) {
    if (bytes[i] < at.from_bytes) continue;
    for (size_t count = requests[i] * ahead; count > 0; --count) {
      if (model->Allocate(bytes[i]) == kNoChunk) return false;
    }
  }
  return true;
}

bool Counterfactual::ServesTwice(const AtBatch& at, size_t order,
                                 ServedPool* pool) const {
  TakeElements(trace_->orders[order], pool);
  SuccessiveSteps steps(pool->model.get());
  return !steps.Run(at.steps[order]).has_value() &&
         !steps.Run(at.steps[order]).has_value();
}

bool Counterfactual::Serves(int64_t batch, uint64_t limit_bytes,
                            ServesIn serves, Served* served) const {
  const auto [known, is_new] = served->try_emplace({batch, limit_bytes}, false);
  if (!is_new) return known->second;
  AtBatch& at = At(batch);
  std::optional<ServedPool> own;
  ServedPool* const pool = PoolUnder(limit_bytes, &at, &own);
  if (pool != nullptr) known->second = (this->*serves)(at, *pool);
  return known->second;
}

bool Counterfactual::ServesSomeIn(const AtBatch& at, ServedPool& pool) const {
  const BfcModel::Moment begin = pool.model->Now();
  return std::any_of(orders_.begin(), orders_.end(), [&](size_t i) {
    pool.model->GoBack(begin);
    return ServesTwice(at, i, &pool);
  });
}

bool Counterfactual::ServesAllIn(const AtBatch& at, ServedPool& pool) const {
  BfcModel* const model = pool.model.get();
  const BfcModel::Moment begin = model->Now();
  const size_t count = orders_.size();
  const size_t most_ahead = MostAhead();
  // The hardest trials first.
  for (size_t ahead = most_ahead + 1; ahead-- > 0;) {
    model->GoBack(begin);
    if (!PutAhead(at, ahead, model)) return false;
    const BfcModel::Moment put = model->Now();
    for (size_t i = 0; i < count; ++i) {
      const size_t number = (hardest_ + i) % count;
      model->GoBack(put);
      if (!ServesTwice(at, orders_[number], &pool)) {
        hardest_ = number;
        return false;
      }
    }
    if (ahead != most_ahead || count == 0) continue;
    model->GoBack(put);
    TakeElements(trace_->orders[orders_.front()], &pool);
    SuccessiveSteps steps(model);
    for (size_t step = 0; step < kRounds * count; ++step) {
      if (steps.Run(at.steps[orders_[step % count]], kMostLate).has_value()) {
        return false;
      }
    }
  }
  return true;
}

uint64_t Counterfactual::SmallestLimit(int64_t batch, uint64_t from_bytes,
                                       ServesUnder serves) const {
  const uint64_t base_bytes = std::max<uint64_t>(1, At(batch).least.low_bytes);
  const uint64_t part_bytes = std::max<uint64_t>(1, base_bytes / kLimitParts);
  const auto limit = [&](uint64_t number) {
    return base_bytes + part_bytes * (number - 1);
  };
  const uint64_t most = (kMostTimesThePeak - 1) * kLimitParts;
  const uint64_t least =
      from_bytes <= base_bytes
          ? 1
          : 1 + (from_bytes - base_bytes + part_bytes - 1) / part_bytes;
  if (least > most) return from_bytes;
  const uint64_t found = SmallestEnough(least, most, 0, [&](uint64_t number) {
    return (this->*serves)(batch, limit(number));
  });
  return limit(found == 0 ? most : found);
}

Need Counterfactual::NeedOf(int64_t batch) const {
  if (!scales_) batch = 0;
  const auto [known, is_new] = needs_.try_emplace(batch);
  Need& need = known->second;
  if (!is_new) return need;
  need.low_bytes = SmallestLimit(batch, 0, &Counterfactual::ServesSome);
  need.high_bytes =
      SmallestLimit(batch, std::max(need.low_bytes, At(batch).least.high_bytes),
                    &Counterfactual::ServesAll);
  // That limit was not enough, whatever the trials say.
  if (unchanged_ == nullptr && stream_->was_refused && !is_recorded() &&
      (batch == 0 || batch >= trace_->batch) &&
      need.high_bytes < stream_->limit_bytes) {
    need = {stream_->limit_bytes, stream_->limit_bytes};
  }
  return need;
}

bool Counterfactual::IsContradicted() const {
  if (unchanged_ != nullptr) return unchanged_->IsContradicted();
  if (!is_contradicted_.has_value()) {
    is_contradicted_ = stream_->was_refused && !is_recorded() && has_orders() &&
                       stream_->limit_bytes != 0 &&
                       (held_more_ || IsSafe(0, stream_->limit_bytes));
  }
  return *is_contradicted_;
}

Fit Counterfactual::FitOf(int64_t batch, uint64_t limit_bytes) const {
  if (!has_orders() || limit_bytes == 0) return Fit::kUnknown;
  if (!scales_) batch = 0;
  if (!IsTooLow() && !IsContradicted() && IsSafe(batch, limit_bytes)) {
    return Fit::kFits;
  }
  return ServesSome(batch, limit_bytes) || ServesAll(batch, limit_bytes)
             ? Fit::kUncertain
             : Fit::kDoesNotFit;
}

uint64_t Counterfactual::EnoughLimit(int64_t batch) const {
  if (!scales_) batch = 0;
  const uint64_t need_bytes = NeedOf(batch).high_bytes;
  uint64_t limit_bytes = need_bytes + need_bytes / (kSpareParts - 1) + 1;
  for (int i = 0; i < kTriesAbove; ++i) {
    limit_bytes = (limit_bytes + kMiB - 1) / kMiB * kMiB;
    if (IsSafe(batch, limit_bytes)) {
      for (int j = 0; j < kTriesBelow && limit_bytes > kMiB &&
                      IsSafe(batch, limit_bytes - kMiB);
           ++j) {
        limit_bytes -= kMiB;
      }
      return limit_bytes;
    }
    limit_bytes += std::max<uint64_t>(1, limit_bytes / kLimitParts);
  }
  return 0;
}

int64_t Counterfactual::LargestOf(
    int64_t most, const std::function<bool(int64_t)>& is_enough) const {
  if (!scales_ || most < 1) return 0;
  int64_t fits = 0;
  int64_t too_large = most + 1;
  while (too_large - fits > std::max<int64_t>(1, fits / kBatchParts)) {
    const int64_t middle = fits + (too_large - fits) / 2;
    (is_enough(middle) ? fits : too_large) = middle;
  }
  return fits;
}

int64_t Counterfactual::LargestBatch(uint64_t limit_bytes, int64_t most) const {
  if (IsTooLow() || IsContradicted()) return 0;
  const uint64_t less_bytes = limit_bytes - limit_bytes / kSpareParts;
  return LargestOf(most, [&](int64_t batch) {
    // What no pool can do without is soon told; the pool that is a sixteenth
    // smaller refuses more.
    return At(batch).least.high_bytes <= less_bytes &&
           IsSafe(batch, limit_bytes);
  });
}

int64_t Counterfactual::LargestBatchToHopeFor(uint64_t limit_bytes,
                                              int64_t most) const {
  const int64_t in_all = LargestOf(most, [&](int64_t size) {
    return At(size).least.high_bytes <= limit_bytes &&
           ServesAll(size, limit_bytes);
  });
  if (in_all > 0) return in_all;
  const uint64_t less_bytes = limit_bytes - limit_bytes / kSpareParts;
  return LargestOf(most, [&](int64_t size) {
    return At(size).least.low_bytes <= less_bytes &&
           ServesSome(size, less_bytes);
  });
}

OrderOutcome Counterfactual::OutcomeOf(size_t order) const {
  Counterfactual alone = *this;
  alone.orders_ = {order};
  alone.needs_.clear();
  alone.all_served_.clear();
  alone.hardest_ = 0;
  OrderOutcome outcome;
  outcome.peak_in_use_bytes = PeaksOf(0)[order];
  outcome.smallest_limit_bytes =
      alone.SmallestLimit(0, 0, &Counterfactual::ServesAll);
  if (stream_->limit_bytes == 0) return outcome;
  AtBatch& at = At(0);
  std::optional<ServedPool> own;
  ServedPool* const pool = PoolUnder(stream_->limit_bytes, &at, &own);
  if (pool == nullptr) return outcome;
  TakeElements(trace_->orders[order], pool);
  outcome.refused_event =
      SuccessiveSteps(pool->model.get()).Run(at.steps[order]);
  return outcome;
}

}  // namespace oom_forensics
