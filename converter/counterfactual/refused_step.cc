#include "converter/counterfactual/refused_step.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/counterfactual/recorded_step.h"

namespace oom_forensics {
namespace {

// A completed step that did what the failed one was to do.
struct CompletedStep {
  StepSpan rows;
  // Where the failed step begins.
  Row failed_begin = 0;
};

// Part of the failed step's bytes that the completed one must have asked for,
// too, by the same ops in the same sizes. Eager ops take their input's buffer
// for their output where Python has let go of it in time, so no two rounds of
// them ask for quite the same.
constexpr double kMinAlike = 0.8;
// Among so many steps before the failure one is looked for.
constexpr size_t kStepsLookedAt = 16;

// A request: op and bytes. Its stack is not known of all of them.
using Request = std::pair<StringId, uint64_t>;

Request RequestOf(const AllocatorReplay& replay, Row row) {
  const AllocationSite& site = replay.SiteOf(row);
  return {site.op, site.requested_bytes};
}

// How often a range of rows made each request.
absl::flat_hash_map<Request, uint64_t> RequestsIn(const AllocatorReplay& replay,
                                                  Row begin, Row end) {
  absl::flat_hash_map<Request, uint64_t> requests;
  for (Row row = begin; row < end; ++row) {
    if (replay.trace().kind_of[row] != RowKind::kAlloc) continue;
    ++requests[RequestOf(replay, row)];
  }
  return requests;
}

// Part of the bytes that `failed` asked for which `done` asked for, too.
double ShareAlike(const absl::flat_hash_map<Request, uint64_t>& failed,
                  const absl::flat_hash_map<Request, uint64_t>& done) {
  uint64_t asked_bytes = 0;
  uint64_t alike_bytes = 0;
  for (const auto& [request, count] : failed) {
    const auto same = done.find(request);
    const uint64_t alike =
        same == done.end() ? 0 : std::min(count, same->second);
    asked_bytes += request.second * count;
    alike_bytes += request.second * alike;
  }
  return static_cast<double>(alike_bytes) /
         static_cast<double>(std::max<uint64_t>(1, asked_bytes));
}

// What a step took beyond what was in use when it began, at its peak.
uint64_t GrowthIn(const AllocatorReplay& replay, Row begin, Row end) {
  const uint64_t before_bytes = replay.usage().At(begin).in_use_bytes;
  const uint64_t peak_bytes = replay.usage().Over(begin, end).in_use_max_bytes;
  return peak_bytes - std::min(peak_bytes, before_bytes);
}

// Finds the step that took most memory among those that ended before the
// failure, served the very request that failed (op and bytes), and made
// requests like those of the failed step. Nothing: the failed step is of
// another kind or size than those before it, or the first.
std::optional<CompletedStep> FindCompletedStep(const AllocatorReplay& replay,
                                               const StepIndex& steps,
                                               Row failure) {
  const std::vector<StepSpan>& spans = steps.spans();
  if (spans.empty()) return std::nullopt;
  const Row failed_begin = static_cast<Row>(spans.back().end);
  const auto failed = RequestsIn(replay, failed_begin, failure);
  const Request refused = RequestOf(replay, failure);
  std::optional<CompletedStep> found;
  uint64_t most_bytes = 0;
  for (size_t i = 0; i < spans.size() && i < kStepsLookedAt; ++i) {
    const Row begin = static_cast<Row>(spans[spans.size() - 1 - i].begin);
    // Up to the next step: what lies between two belongs to the first.
    const Row end =
        i == 0 ? failed_begin : static_cast<Row>(spans[spans.size() - i].begin);
    const auto done = RequestsIn(replay, begin, end);
    if (!done.contains(refused) || ShareAlike(failed, done) < kMinAlike) {
      continue;
    }
    const uint64_t taken_bytes = GrowthIn(replay, begin, end);
    if (found.has_value() && taken_bytes <= most_bytes) continue;
    found = {{spans[spans.size() - 1 - i].number, begin, end}, failed_begin};
    most_bytes = taken_bytes;
  }
  return found;
}

// What a step gives back of what was there before it, a variable's old value
// say: rows of the completed step, and those that stand for them in the failed
// one.
struct Replaced {
  std::vector<Row> by_completed;
  std::vector<Row> by_failed;
};

Replaced FindReplaced(const AllocatorReplay& replay,
                      const CompletedStep& completed) {
  // The newest last.
  absl::flat_hash_map<Request, std::vector<Row>> before_failed;
  std::vector<Row> live = replay.LiveAt(completed.failed_begin);
  std::sort(live.begin(), live.end());
  for (const Row row : live) {
    before_failed[RequestOf(replay, row)].push_back(row);
  }
  Replaced replaced;
  std::vector<Row> before = replay.LiveAt(completed.rows.begin);
  std::sort(before.begin(), before.end(), std::greater<>());
  for (const Row row : before) {
    const auto like = before_failed.find(RequestOf(replay, row));
    if (like == before_failed.end() || like->second.empty()) continue;
    const Row other = like->second.back();
    like->second.pop_back();
    if (replay.IsLiveAt(row, completed.rows.end)) continue;
    replaced.by_completed.push_back(row);
    replaced.by_failed.push_back(other);
  }
  return replaced;
}

}  // namespace

Counterfactual ForecastStepOfRefusal(
    const AllocatorReplay& replay, const RoleClassifier& roles, Row failure,
    uint64_t limit_bytes, const ForecastTrace& graph,
    std::shared_ptr<const ServingOrder> order) {
  std::shared_ptr<const ForecastTrace> forecast =
      ForecastAsCompiled(replay, failure, graph);
  StepStream stream = StreamOfRefusedStep(
      replay, failure, limit_bytes, *forecast,
      RecordedBatch(replay, roles, replay.LiveAt(failure), failure),
      std::move(order));
  return {std::move(forecast), std::move(stream)};
}

std::shared_ptr<const Counterfactual> StepOfRefusal(
    const AllocatorReplay& replay, const RoleClassifier& roles, Row failure,
    uint64_t limit_bytes, const StepIndex& steps,
    std::shared_ptr<const ServingOrder> order) {
  std::shared_ptr<const Counterfactual> forecast_step;
  if (const ForecastTrace* const graph = ForecastOf(replay, failure)) {
    auto step = std::make_shared<const Counterfactual>(ForecastStepOfRefusal(
        replay, roles, failure, limit_bytes, *graph, order));
    if (step->has_orders() && !step->IsTooLow()) {
      forecast_step = std::move(step);
      if (!forecast_step->IsContradicted()) return forecast_step;
    }
  }
  const auto completed = FindCompletedStep(replay, steps, failure);
  if (!completed.has_value()) return forecast_step;
  const std::optional<BatchDimension> batch =
      RecordedBatch(replay, roles, replay.LiveAt(failure), failure);
  Replaced replaced = FindReplaced(replay, *completed);
  auto forecast = std::make_shared<const ForecastTrace>(
      RecordedForecast(replay, batch, completed->rows, replaced.by_completed));
  StepStream stream = StreamAt(replay, completed->failed_begin, limit_bytes,
                               *forecast, std::move(order));
  stream.taken_rows = std::move(replaced.by_failed);
  stream.shares = std::make_shared<const BatchShares>(
      replay.host(), /*forecast=*/nullptr, batch);
  return std::make_shared<const Counterfactual>(std::move(forecast),
                                                std::move(stream));
}

}  // namespace oom_forensics
