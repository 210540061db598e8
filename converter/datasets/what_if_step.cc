#include "converter/datasets/what_if_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "converter/datasets/cached_timelines.h"
#include "converter/forensics/forecast/compiled_forecast.h"
#include "converter/forensics/oom_case/completed_step.h"

namespace oom_forensics {
namespace {

// As the step was forecast in the process that met the refusal, or XLA planned
// it. That knows of another batch, but of no other change to what is asked for.
std::optional<Need> Forecast(const WhatIfPool& pool, const ForecastTrace& graph,
                             const WhatIfSettings& settings) {
  if (settings.without_scope_size() != 0 || settings.dtype_size() != 0) {
    return std::nullopt;
  }
  const AllocatorReplay& replay = *pool.allocator().replay;
  const Row failure = replay.failure_positions().front();
  const auto trace = ForecastAsCompiled(replay, failure, graph);
  PoolBeforeStep before =
      PoolBeforeRefusal(replay, failure, *trace, pool.recorded_limit_bytes());
  if (settings.has_growth()) before.settings.allow_growth = settings.growth();
  if (settings.has_garbage_collection()) {
    before.settings.garbage_collection = settings.garbage_collection();
  }
  const StepForecastModel model(*trace, std::move(before));
  if (!model.has_orders()) return std::nullopt;
  if (settings.batch_scale() == 0) return model.NeedOf(0);
  if (!model.scales()) return std::nullopt;
  return model.NeedOf(
      std::max<int64_t>(1, std::llround(static_cast<double>(model.batch()) *
                                        settings.batch_scale())));
}

}  // namespace

std::optional<Need> NeedOfRefusedStep(const WhatIfPool& pool,
                                      const WhatIfSettings& settings,
                                      const Scenario& scenario) {
  const AllocatorReplay& replay = *pool.allocator().replay;
  if (pool.sums_only() || replay.failure_positions().empty()) {
    return std::nullopt;
  }
  const Row failure = replay.failure_positions().front();
  const ForecastTrace* forecast = ForecastOf(replay, failure);
  if (forecast != nullptr) return Forecast(pool, *forecast, settings);
  if (settings.without_scope_size() != 0) return std::nullopt;
  Scenario with_step = scenario;
  with_step.then_step = FindCompletedStep(
      replay, LeaksAt(pool.allocator(), failure)->steps, failure);
  if (!with_step.then_step.has_value()) return std::nullopt;
  const uint64_t bytes = pool.FindSmallestLimit(with_step, failure).bytes;
  if (bytes == 0) return std::nullopt;
  return Need{bytes, bytes};
}

}  // namespace oom_forensics
