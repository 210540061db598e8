#include "converter/counterfactual/refused_step.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/counterfactual/recorded_step.h"

namespace oom_forensics {
namespace {

// A completed step that did what the failed one was to do.
struct CompletedStep {
  Row begin = 0;
  Row end = 0;
  // Where the failed step begins.
  Row failed_begin = 0;
};

// Part of the failed step's bytes that the completed one must have asked for,
// too, by the same ops in the same sizes.
constexpr double kMinAlike = 0.95;
// Among so many steps before the failure one is looked for.
constexpr size_t kStepsLookedAt = 16;

// Bytes that a range of rows asked for, by site.
absl::flat_hash_map<SiteId, uint64_t> BytesBySite(const AllocatorReplay& replay,
                                                  Row begin, Row end) {
  absl::flat_hash_map<SiteId, uint64_t> bytes;
  for (Row row = begin; row < end; ++row) {
    if (replay.trace().kind_of[row] != RowKind::kAlloc) continue;
    bytes[replay.trace().site[row]] += replay.SiteOf(row).requested_bytes;
  }
  return bytes;
}

// The last of the steps, which all ended before the failure, that served the
// very request that failed (op, shape and bytes) after requests like those that
// the failed step had made before it. Nothing: the failed step is of another
// kind or size than those before, or the first.
std::optional<CompletedStep> FindCompletedStep(const AllocatorReplay& replay,
                                               const StepIndex& steps,
                                               Row failure) {
  const std::vector<StepSpan>& spans = steps.spans();
  if (spans.empty()) return std::nullopt;
  CompletedStep found;
  found.failed_begin = static_cast<Row>(spans.back().end);
  const absl::flat_hash_map<SiteId, uint64_t> failed =
      BytesBySite(replay, found.failed_begin, failure);
  const SiteId refused = replay.trace().site[failure];
  for (size_t i = 0; i < spans.size() && i < kStepsLookedAt; ++i) {
    const StepSpan& span = spans[spans.size() - 1 - i];
    // Up to the next step: what lies between two belongs to the first.
    found.begin = static_cast<Row>(span.begin);
    found.end = i == 0 ? found.failed_begin
                       : static_cast<Row>(spans[spans.size() - i].begin);
    const absl::flat_hash_map<SiteId, uint64_t> done =
        BytesBySite(replay, found.begin, found.end);
    if (!done.contains(refused)) continue;
    uint64_t asked = 0;
    uint64_t alike = 0;
    for (const auto& [site, bytes] : failed) {
      asked += bytes;
      const auto same = done.find(site);
      if (same != done.end()) alike += std::min(bytes, same->second);
    }
    if (static_cast<double>(alike) >= kMinAlike * static_cast<double>(asked)) {
      return found;
    }
  }
  return std::nullopt;
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
  if (const ForecastTrace* const graph = ForecastOf(replay, failure)) {
    auto step = std::make_shared<const Counterfactual>(ForecastStepOfRefusal(
        replay, roles, failure, limit_bytes, *graph, order));
    if (step->has_orders() && !step->IsTooLow()) return step;
  }
  const auto completed = FindCompletedStep(replay, steps, failure);
  if (!completed.has_value()) return nullptr;
  const std::optional<BatchDimension> batch =
      RecordedBatch(replay, roles, replay.LiveAt(failure), failure);
  auto forecast = std::make_shared<const ForecastTrace>(RecordedForecast(
      replay, batch, completed->begin, completed->end, /*taken=*/{}));
  StepStream stream = StreamAt(replay, completed->failed_begin, limit_bytes,
                               *forecast, std::move(order));
  stream.shares = std::make_shared<const BatchShares>(
      replay.host(), /*forecast=*/nullptr, batch);
  return std::make_shared<const Counterfactual>(std::move(forecast),
                                                std::move(stream));
}

}  // namespace oom_forensics
