#include "converter/counterfactual/recorded_step.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/counterfactual/successive_steps.h"

namespace oom_forensics {
namespace {

// A recording of more rows is not replayed as one step.
constexpr Position kMostRowsOfAll = 100'000;

// Of those that the program or Keras marked.
std::optional<StepSpan> FindHeaviest(const AllocatorReplay& replay) {
  if (replay.host().steps.empty()) return std::nullopt;
  const Position begin = replay.trace().baseline_rows;
  const Position end = replay.end_position();
  const StepIndex steps(replay, end);
  std::optional<StepSpan> heaviest;
  uint64_t most_bytes = 0;
  for (const StepSpan& span : steps.spans()) {
    // What began before the recording is not known whole.
    if (span.begin <= begin) continue;
    const uint64_t bytes =
        replay.usage().Over(span.begin, span.end).in_use_max_bytes;
    if (bytes <= most_bytes) continue;
    most_bytes = bytes;
    heaviest = span;
  }
  return heaviest;
}

// Everything, where nobody marked a step: what repeats need not be all of one.
std::optional<StepSpan> WholeRecording(const AllocatorReplay& replay) {
  const AllocatorTrace& trace = replay.trace();
  const Position end = replay.end_position();
  if (!trace.has_layout || !replay.host().steps.empty() ||
      end <= trace.baseline_rows ||
      end - trace.baseline_rows > kMostRowsOfAll) {
    return std::nullopt;
  }
  return StepSpan{0, trace.baseline_rows, end};
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
                               const StepSpan& rows,
                               const std::vector<Row>& taken) {
  const AllocatorTrace& trace = replay.trace();
  ForecastTrace forecast;
  forecast.origin = kRecordedOrigin;
  forecast.allocator = trace.name;
  forecast.step_id = rows.number;
  forecast.batch = batch.has_value() ? batch->size() : 0;
  forecast.orders.push_back({"recorded", {}});
  StepReader reader(replay, batch);
  for (const Row row : taken) reader.Ask(row, &forecast);
  for (Row row = rows.begin; row < rows.end; ++row) {
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
                                         uint64_t limit_bytes) {
  std::optional<StepSpan> rows = FindHeaviest(replay);
  const bool is_step = rows.has_value();
  if (!is_step) rows = WholeRecording(replay);
  if (!rows.has_value()) return std::nullopt;
  const Position peak =
      replay.usage().Over(rows->begin, rows->end).in_use_max_position;
  const std::optional<BatchDimension> batch =
      RecordedBatch(replay, roles, replay.LiveAt(peak), rows->end);
  std::vector<Row> taken;
  for (const Row row : replay.LiveAt(rows->begin)) {
    if (!replay.IsLiveAt(row, rows->end)) taken.push_back(row);
  }
  RecordedStep step;
  step.forecast = RecordedForecast(replay, batch, *rows, taken);
  if (!is_step) step.forecast.function = kWholeRecording;
  step.stream = StreamAt(replay, rows->begin, limit_bytes, step.forecast,
                         /*order=*/nullptr);
  step.stream.taken_rows = std::move(taken);
  step.stream.shares = std::make_shared<const BatchShares>(
      replay.host(), /*forecast=*/nullptr, batch);
  return step;
}

}  // namespace oom_forensics
