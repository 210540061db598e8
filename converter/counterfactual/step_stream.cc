#include "converter/counterfactual/step_stream.h"

#include <algorithm>

#include "converter/counterfactual/pool_settings.h"
#include "converter/trace/op_name.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

constexpr Row kMaxRowsToServe = 100000;

// By site of the forecast: the live rows that hold what it takes from its
// pipeline, oldest first.
void FindElements(const AllocatorReplay& replay, const ForecastTrace& forecast,
                  StepStream* stream) {
  stream->element_rows.resize(forecast.sites.size());
  absl::flat_hash_set<Row> known;
  for (size_t i = 0; i < forecast.sites.size(); ++i) {
    const bool is_element =
        TakesElement(replay.host().strings.Get(forecast.sites[i].op));
    stream->element_sites.push_back(is_element);
    if (!is_element) continue;
    for (const Row row : stream->live_rows) {
      const AllocationSite& site = replay.SiteOf(row);
      if (site.requested_bytes == forecast.sites[i].requested_bytes &&
          MayBeElement(site) && known.insert(row).second) {
        stream->element_rows[i].push_back(row);
      }
    }
  }
}

// What the step asked for before it was refused, and what others asked for
// meanwhile: the pipeline goes on, XLA compiles.
void FindOwnRows(const AllocatorReplay& replay, Row failure,
                 const ForecastTrace& forecast, StepStream* stream) {
  const AllocatorTrace& trace = replay.trace();
  const Position begin = BeginOfRun(replay, failure, forecast.step_id);
  const auto key = [&](Row row) {
    const AllocationSite& site = replay.SiteOf(row);
    return std::make_pair(
        std::string(StripCallPrefix(replay.host().OpOf(site))),
        site.requested_bytes);
  };
  for (Row row = begin; row < failure; ++row) {
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    const bool is_live = replay.IsLiveAt(row, failure);
    // A plan's orders ask for what was held when the block was refused.
    const bool is_own =
        forecast.planned ? is_live
                         : forecast.step_id == 0 ||
                               trace.ContextOf(row).step_id == forecast.step_id;
    if (!is_own) continue;
    stream->own_rows.insert(row);
    if (is_live) ++stream->held_at_refusal[key(row)];
  }
  stream->refused = key(failure);
}

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

Row BeginOfRange(const AllocatorReplay& replay, Position end) {
  return std::max<Row>(replay.trace().baseline_rows,
                       end > kMaxRowsToServe ? end - kMaxRowsToServe : 0);
}

std::shared_ptr<const ServingOrder> OrderBefore(const AllocatorReplay& replay,
                                                Position end) {
  const Row begin = BeginOfRange(replay, end);
  ServingOrder order;
  if (replay.trace().has_layout) {
    order = FindServingOrder(replay, begin, end);
  } else {
    for (Row row = begin; row < end; ++row) order.rows.push_back(row);
  }
  return std::make_shared<const ServingOrder>(std::move(order));
}

std::optional<ServedPool> StepStream::PoolUnder(const Scenario& change,
                                                uint64_t from_bytes) const {
  if (replay != nullptr) {
    const auto is_skipped = [&](Row row) {
      if (replay->trace().kind_of[row] != RowKind::kAlloc) return false;
      return own_rows.contains(row) ||
             (replay->SiteOf(row).requested_bytes < from_bytes &&
              !replay->IsLiveAt(row, range.to));
    };
    return PoolSimulator(*replay, *order, settings)
        .Serve(change, range, is_skipped);
  }
  ServedPool pool;
  pool.model = std::make_unique<BfcModel>(Changed(settings, change));
  if (held_bytes > 0 && pool.model->Allocate(held_bytes) == kNoChunk) {
    return std::nullopt;
  }
  return pool;
}

StepStream StreamAt(const AllocatorReplay& replay, Position position,
                    uint64_t limit_bytes, const ForecastTrace& forecast,
                    std::shared_ptr<const ServingOrder> order) {
  StepStream stream;
  stream.replay = &replay;
  stream.limit_bytes = limit_bytes;
  stream.settings = RecordedSettings(replay, position, limit_bytes);
  stream.range.from = BeginOfRange(replay, position);
  stream.range.to = position;
  stream.order =
      order != nullptr ? std::move(order) : OrderBefore(replay, position);
  stream.live_rows = replay.LiveAt(position);
  std::sort(stream.live_rows.begin(), stream.live_rows.end());
  FindElements(replay, forecast, &stream);
  return stream;
}

StepStream StreamOfRefusedStep(const AllocatorReplay& replay, Row failure,
                               uint64_t limit_bytes,
                               const ForecastTrace& forecast,
                               std::optional<BatchDimension> found,
                               std::shared_ptr<const ServingOrder> order) {
  StepStream stream =
      StreamAt(replay, failure, limit_bytes, forecast, std::move(order));
  stream.was_refused = true;
  stream.shares = std::make_shared<const BatchShares>(replay.host(), &forecast,
                                                      std::move(found));
  FindOwnRows(replay, failure, forecast, &stream);
  stream.live_rows.erase(
      std::remove_if(stream.live_rows.begin(), stream.live_rows.end(),
                     [&](Row row) { return stream.own_rows.contains(row); }),
      stream.live_rows.end());
  for (std::vector<Row>& rows : stream.element_rows) {
    rows.erase(
        std::remove_if(rows.begin(), rows.end(),
                       [&](Row row) { return stream.own_rows.contains(row); }),
        rows.end());
  }
  return stream;
}

}  // namespace oom_forensics
