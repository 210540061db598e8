#include "converter/forensics/forecast/pool_before_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "converter/forensics/what_if.h"
#include "converter/simulation/pool_settings.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

// In the name of the op that takes the next element from a pipeline.
constexpr char kElementOp[] = "IteratorGetNext";

}  // namespace

Position BeginOfRun(const AllocatorReplay& replay, Row failure,
                    int64_t step_id) {
  const AllocatorTrace& trace = replay.trace();
  Position begin = failure;
  if (step_id == 0) {
    for (const TrainingStep& step : replay.host().steps) {
      const Position position = trace.PositionAt(step.begin_ps);
      if (position <= failure) begin = std::max(position, trace.baseline_rows);
    }
    return begin;
  }
  for (Row row = failure; row-- > trace.baseline_rows;) {
    if (trace.kind_of[row] == RowKind::kAlloc &&
        trace.ContextOf(row).step_id == step_id) {
      begin = row;
    }
  }
  return begin;
}

PoolBeforeStep PoolBefore(const AllocatorReplay& replay, Position position,
                          uint64_t limit_bytes) {
  PoolBeforeStep pool;
  pool.limit_bytes = limit_bytes;
  std::vector<Row> live = replay.LiveAt(position);
  std::sort(live.begin(), live.end());
  for (const Row row : live) {
    pool.live_bytes.push_back(replay.SiteOf(row).requested_bytes);
  }
  pool.live_rows = std::move(live);
  if (!replay.trace().has_layout) return pool;
  pool.layout = LayoutAt(replay, position);
  pool.settings = RecordedSettings(replay, position, limit_bytes);
  return pool;
}

std::vector<bool> ElementSites(const HostTrace& host,
                               const ForecastTrace& forecast) {
  std::vector<bool> are_elements;
  are_elements.reserve(forecast.sites.size());
  for (const ForecastSite& site : forecast.sites) {
    are_elements.push_back(
        absl::StrContains(host.strings.Get(site.op), kElementOp));
  }
  return are_elements;
}

std::vector<uint32_t> ElementRequests(const ForecastTrace& forecast,
                                      const std::vector<bool>& element_sites) {
  // Some orders also make the element of the next step.
  std::vector<uint32_t> fewest(element_sites.size());
  uint64_t fewest_sum = UINT64_MAX;
  for (const ForecastOrderTrace& order : forecast.orders) {
    std::vector<uint32_t> requests(element_sites.size());
    uint64_t sum = 0;
    for (const ForecastEvent& event : order.events) {
      if (event.is_free || event.index >= element_sites.size() ||
          !element_sites[event.index]) {
        continue;
      }
      ++requests[event.index];
      ++sum;
    }
    if (sum < fewest_sum) {
      fewest_sum = sum;
      fewest = std::move(requests);
    }
  }
  return fewest;
}

namespace {

// Leaves out what the step takes from its input pipeline.
PoolBeforeStep WithoutElements(const AllocatorReplay& replay,
                               const ForecastTrace& forecast,
                               PoolBeforeStep pool) {
  pool.element_sites = ElementSites(replay.host(), forecast);
  // What the program itself made, from NumPy say, may be as large: a data set
  // that is one batch.
  const auto may_be_element = [&](size_t index) {
    if (pool.live_rows.empty()) return true;
    const AllocationSite& site = replay.SiteOf(pool.live_rows[index]);
    return site.stack == kNoStack && site.mode != SiteMode::kEager;
  };
  const std::vector<uint32_t> requests =
      ElementRequests(forecast, pool.element_sites);
  for (size_t i = 0; i < requests.size(); ++i) {
    uint32_t left = requests[i];
    for (size_t index = pool.live_bytes.size(); left > 0 && index-- > 0;) {
      if (pool.live_bytes[index] != forecast.sites[i].requested_bytes ||
          !may_be_element(index)) {
        continue;
      }
      const auto place = static_cast<std::ptrdiff_t>(index);
      pool.live_bytes.erase(pool.live_bytes.begin() + place);
      if (!pool.live_rows.empty()) {
        pool.live_rows.erase(pool.live_rows.begin() + place);
      }
      --left;
    }
  }
  return pool;
}

}  // namespace

PoolBeforeStep PoolBeforeRefusal(const AllocatorReplay& replay, Row failure,
                                 const ForecastTrace& forecast,
                                 uint64_t limit_bytes) {
  PoolBeforeStep pool = WithoutElements(
      replay, forecast,
      PoolBefore(replay, BeginOfRun(replay, failure, forecast.step_id),
                 limit_bytes));
  if (forecast.planned && replay.trace().has_layout) {
    pool.pieces_at_refusal = LayoutAt(replay, failure);
  }
  pool.refused_need_bytes =
      replay.usage().At(failure).in_use_bytes +
      RoundedBytes(replay.SiteOf(failure).requested_bytes);
  return pool;
}

}  // namespace oom_forensics
