#include "converter/counterfactual/recorded_step.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/counterfactual/successive_steps.h"

namespace oom_forensics {
namespace {

// Rows [begin, end) of a step.
struct StepRows {
  int64_t number = 0;
  Position begin = 0;
  Position end = 0;
};

std::optional<StepRows> FindHeaviest(const AllocatorReplay& replay,
                                     Position end) {
  const AllocatorTrace& trace = replay.trace();
  std::optional<StepRows> heaviest;
  uint64_t most_bytes = 0;
  for (const TrainingStep& step : replay.host().steps) {
    const StepRows rows{step.number, trace.PositionAt(step.begin_ps),
                        trace.PositionAt(step.end_ps)};
    if (rows.end > end || rows.begin >= rows.end ||
        rows.begin <= trace.baseline_rows) {
      continue;
    }
    const uint64_t bytes =
        replay.usage().Over(rows.begin, rows.end).in_use_max_bytes;
    if (bytes <= most_bytes) continue;
    most_bytes = bytes;
    heaviest = rows;
  }
  return heaviest;
}

class StepReader {
 public:
  StepReader(const AllocatorReplay& replay,
             const std::optional<BatchDimension>& batch)
      : replay_(replay), batch_(batch) {}

  void Ask(Row row, ForecastTrace* forecast) {
    const SiteId id = replay_.trace().site[row];
    const auto [at, added] =
        sites_.emplace(id, static_cast<uint32_t>(forecast->sites.size()));
    if (added) {
      forecast->sites.push_back(SiteOf(id));
      forecast->sites.back().like = row;
    }
    numbers_[row] = asked_++;
    forecast->orders.front().events.push_back({false, at->second});
  }

  void Free(Row alloc, ForecastTrace* forecast) {
    const auto held = numbers_.find(alloc);
    if (held == numbers_.end()) return;
    forecast->orders.front().events.push_back({true, held->second});
    numbers_.erase(held);
  }

 private:
  ForecastSite SiteOf(SiteId id) const {
    const HostTrace& host = replay_.host();
    const AllocationSite& recorded = host.sites.Get(id);
    ForecastSite site;
    site.op = recorded.op;
    site.shape = recorded.shape;
    site.dtype = recorded.dtype;
    site.requested_bytes = recorded.requested_bytes;
    std::vector<int64_t> dims;
    if (batch_.has_value() && ParseShape(host.ShapeOf(recorded), &dims) &&
        batch_->PositionIn(host.OpOf(recorded), dims).has_value()) {
      site.per_example_bytes =
          recorded.requested_bytes / static_cast<uint64_t>(batch_->size());
    }
    return site;
  }

  const AllocatorReplay& replay_;
  const std::optional<BatchDimension>& batch_;
  absl::flat_hash_map<SiteId, uint32_t> sites_;
  absl::flat_hash_map<Row, uint32_t> numbers_;
  uint32_t asked_ = 0;
};

}  // namespace

ForecastTrace RecordedForecast(const AllocatorReplay& replay,
                               const std::optional<BatchDimension>& batch,
                               Row begin, Row end,
                               const std::vector<Row>& taken) {
  const AllocatorTrace& trace = replay.trace();
  ForecastTrace forecast;
  forecast.origin = kRecordedOrigin;
  forecast.allocator = trace.name;
  forecast.batch = batch.has_value() ? batch->size() : 0;
  forecast.orders.push_back({"recorded", {}});
  StepReader reader(replay, batch);
  for (const Row row : taken) reader.Ask(row, &forecast);
  for (Row row = begin; row < end; ++row) {
    if (trace.kind_of[row] == RowKind::kAlloc) {
      reader.Ask(row, &forecast);
      ++forecast.op_count;
    } else if (trace.kind_of[row] == RowKind::kFree &&
               replay.PartnerOf(row) != kNoRow) {
      reader.Free(replay.PartnerOf(row), &forecast);
    }
  }
  return forecast;
}

std::optional<RecordedStep> HeaviestStep(const AllocatorReplay& replay,
                                         const RoleClassifier& roles,
                                         Position end, uint64_t limit_bytes) {
  const std::optional<StepRows> rows = FindHeaviest(replay, end);
  if (!rows.has_value()) return std::nullopt;
  const std::vector<Row> live = replay.LiveAt(rows->begin);
  const std::optional<BatchDimension> batch =
      RecordedBatch(replay, roles, live, rows->end);
  std::vector<Row> taken;
  for (const Row row : live) {
    if (!replay.IsLiveAt(row, rows->end)) taken.push_back(row);
  }
  RecordedStep step;
  step.number = rows->number;
  step.forecast = RecordedForecast(replay, batch, static_cast<Row>(rows->begin),
                                   static_cast<Row>(rows->end), taken);
  step.stream = StreamAt(replay, rows->begin, limit_bytes, step.forecast,
                         /*order=*/nullptr);
  step.stream.taken_rows = std::move(taken);
  step.stream.shares = std::make_shared<const BatchShares>(
      replay.host(), /*forecast=*/nullptr, batch);
  return step;
}

}  // namespace oom_forensics
