#include "converter/datasets/what_if_pool.h"

#include <algorithm>
#include <map>
#include <utility>

#include "converter/counterfactual/pool_settings.h"
#include "converter/counterfactual/pool_simulation.h"
#include "converter/datasets/cached_timelines.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// Limits are looked for up to so many times what was in use at once.
constexpr uint64_t kMostTimesTheUse = 16;
// A limit that holds everything.
constexpr uint64_t kNoLimitBytes = uint64_t{1} << 60;
// Besides those that the search needs: these hundredths of the smallest limit,
// to show what comes of less and of more.
constexpr uint64_t kShownPercents[] = {50, 75, 90, 110, 125, 150, 200};

// Limits in whole MiB, as TensorFlow's settings name them.
class LimitSearch {
 public:
  LimitSearch(const WhatIfPool& pool, const Scenario& scenario)
      : pool_(pool), scenario_(scenario) {}

  WhatIfPool::SmallestLimit Find() {
    WhatIfPool::SmallestLimit found;
    const uint64_t enough_mib = FindEnough();
    found.bytes = enough_mib * kMiB;
    for (const uint64_t percent : kShownPercents) {
      const uint64_t mib = enough_mib * percent / 100;
      if (mib != 0) Fits(mib);
    }
    for (const auto& [mib, limit] : tried_) found.tried.push_back(limit);
    return found;
  }

 private:
  Simulation RunIn(uint64_t limit_bytes) const {
    Scenario scenario = scenario_;
    scenario.limit_bytes = limit_bytes;
    return pool_.Run(scenario, std::nullopt);
  }

  bool Fits(uint64_t limit_mib) {
    const auto [known, is_new] = tried_.try_emplace(limit_mib);
    WhatIfLimit& limit = known->second;
    if (is_new) {
      const Simulation run = RunIn(limit_mib * kMiB);
      limit.set_limit_bytes(limit_mib * kMiB);
      limit.set_fits(WhatIfPool::Fits(run));
      limit.set_peak_reserved_bytes(run.peak_reserved_bytes);
    }
    return limit.fits();
  }

  // In MiB; 0: none. What is in use at once where there is no limit is too
  // little or just enough. A larger limit may not be enough where a smaller one
  // is: that which was asked for is not passed by.
  uint64_t FindEnough() {
    const uint64_t use_bytes = RunIn(kNoLimitBytes).peak_in_use_bytes;
    const uint64_t least = std::max<uint64_t>(1, (use_bytes + kMiB - 1) / kMiB);
    return SmallestEnough(
        least, least * kMostTimesTheUse,
        scenario_.limit_bytes.value_or(pool_.settings().limit_bytes) / kMiB,
        [this](uint64_t limit_mib) { return Fits(limit_mib); });
  }

  const WhatIfPool& pool_;
  const Scenario& scenario_;
  // By MiB.
  std::map<uint64_t, WhatIfLimit> tried_;
};

}  // namespace

WhatIfPool::WhatIfPool(const SelectedAllocator& allocator, bool sums_only)
    : allocator_(allocator),
      sums_only_(sums_only),
      order_(sums_only ? nullptr : OrderOf(allocator)) {
  const AllocatorReplay& replay = *allocator.replay;
  const AllocatorTrace& trace = replay.trace();
  const std::vector<Position>& failures = replay.failure_positions();
  recorded_limit_bytes_ =
      trace.LimitAt(failures.empty() ? kNoRow : failures.front());
  settings_ = RecordedSettings(
      replay, failures.empty() ? replay.end_position() : failures.front(),
      recorded_limit_bytes_);
  range_.from = trace.baseline_rows;
  range_.to = trace.row_count();
  if (order_ != nullptr) {
    as_recorded_ = SimulationOf(allocator, *order_, settings_, range_);
  }
}

Simulation WhatIfPool::Run(const Scenario& scenario,
                           std::optional<Position> map_at) const {
  PoolSimulator::Range range = range_;
  range.map_at = map_at;
  if (sums_only_) {
    return RunGapless(*allocator_.replay, scenario, range,
                      scenario.limit_bytes.value_or(settings_.limit_bytes));
  }
  return PoolSimulator(*allocator_.replay, *order_, settings_)
      .Run(scenario, range);
}

WhatIfPool::SmallestLimit WhatIfPool::FindSmallestLimit(
    const Scenario& scenario) const {
  return LimitSearch(*this, scenario).Find();
}

}  // namespace oom_forensics
