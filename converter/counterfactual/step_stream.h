// A step that did not come to its end, as a stream of requests: what was
// recorded before it, and the orders of a forecast after that.
//
// What was recorded is served under other settings from the beginning of the
// recording, so the pool has the pieces that it would really have had.
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_STEP_STREAM_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_STEP_STREAM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "converter/bfc/bfc_model.h"
#include "converter/counterfactual/batch_shares.h"
#include "converter/counterfactual/pool_simulation.h"
#include "converter/counterfactual/serving_order.h"
#include "converter/replay/allocator_replay.h"
#include "converter/trace/forecast_trace.h"

namespace oom_forensics {

// Tensors by op, without what called it, and bytes: how many.
using HeldTensors = std::map<std::pair<std::string, uint64_t>, uint64_t>;

struct StepStream {
  // Whose rows are served before the orders; null: nothing was recorded, and
  // the pool holds one block of `held_bytes`.
  const AllocatorReplay* replay = nullptr;
  std::shared_ptr<const ServingOrder> order;
  PoolSimulator::Range range;
  // Rows of the range that the orders ask for themselves: they are not served.
  absl::flat_hash_set<Row> own_rows;
  // Rows that are given back before an order begins, which asks for them.
  std::vector<Row> taken_rows;
  // By site of the forecast: rows that hold such a tensor of the pipeline's
  // elements at the end of the range. An order takes as many as it asks for.
  std::vector<std::vector<Row>> element_rows;
  // By site of the forecast: whether it is a tensor of an element.
  std::vector<bool> element_sites;
  uint64_t held_bytes = 0;
  // What is live at the end of the range, oldest first.
  std::vector<Row> live_rows;
  // The limit that was set; 0: unknown.
  uint64_t limit_bytes = 0;
  // How the pool was set otherwise; the limit in it does not count.
  BfcSettings settings;
  // What grows with the batch; null: nothing is known of it.
  std::shared_ptr<const BatchShares> shares;
  // For a step that was refused memory: the request, and what the step held
  // then. Empty op: not known.
  std::pair<std::string, uint64_t> refused;
  HeldTensors held_at_refusal;
  bool was_refused = false;

  // The pool at the end of the range; nothing: a request found no place.
  // Requests below `from_bytes` that are given back within it are not placed.
  std::optional<ServedPool> PoolUnder(const Scenario& change,
                                      uint64_t from_bytes) const;
};

// What an allocator held at the position, before a step that was not begun; it
// lies as it was recorded. `order`: null: OrderBefore().
StepStream StreamAt(const AllocatorReplay& replay, Position position,
                    uint64_t limit_bytes, const ForecastTrace& forecast,
                    std::shared_ptr<const ServingOrder> order);

// Before the step whose request failed. `found`: the batch as the shapes show
// it.
StepStream StreamOfRefusedStep(const AllocatorReplay& replay, Row failure,
                               uint64_t limit_bytes,
                               const ForecastTrace& forecast,
                               std::optional<BatchDimension> found,
                               std::shared_ptr<const ServingOrder> order);

// Where the run of a function began: before the first row of that step id which
// leads up to `failure`; without an id (TensorFlow 2.20 and older) where the
// training step began; `failure` itself where neither is recorded.
Position BeginOfRun(const AllocatorReplay& replay, Row failure,
                    int64_t step_id);

// The first row of a range to serve that ends there: rows beyond what is worth
// the time are left out.
Row BeginOfRange(const AllocatorReplay& replay, Position end);

// The order in which they were served; where nothing tells, as they stand.
std::shared_ptr<const ServingOrder> OrderBefore(const AllocatorReplay& replay,
                                                Position end);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_STEP_STREAM_H_
