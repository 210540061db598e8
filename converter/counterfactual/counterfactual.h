// What would have been: whether a step fits under other settings, and what it
// needs. One answer for forecast, what-if, remedies, verdict and batches.
//
// A change (rows left out or resized, growth, garbage collection, another
// batch) and a limit are tried on a stream (step_stream.h): the rows that were
// recorded before the step are served under that setting from the beginning, by
// the model of TensorFlow's allocator, and the orders of the step after them,
// two steps each: the pool has the pieces that it would really have had.
//
//   Counterfactual step(forecast, StreamOfRefusedStep(replay, failure, ...));
//   const Need need = step.NeedOf(32);                    // 819 to 1310 MiB
//   if (step.Under(without).FitOf(32, limit_bytes) == Fit::kFits) ...
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_COUNTERFACTUAL_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_COUNTERFACTUAL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "converter/counterfactual/pool_simulation.h"
#include "converter/counterfactual/step_stream.h"
#include "converter/counterfactual/successive_steps.h"
#include "converter/replay/allocator_replay.h"
#include "converter/trace/forecast_trace.h"

namespace oom_forensics {

// The forecast of the step whose request failed, made for the pool that refused
// it; null: the trace has none.
const ForecastTrace* ForecastOf(const AllocatorReplay& replay, Row failure);

enum class Fit { kUnknown, kFits, kUncertain, kDoesNotFit };

// Over the orders that were tried.
struct Need {
  uint64_t low_bytes = 0;
  uint64_t high_bytes = 0;
};

// What became of one order.
struct OrderOutcome {
  uint64_t peak_in_use_bytes = 0;
  uint64_t smallest_limit_bytes = 0;
  // Index of the event that found no place in the pool as it was set; nothing:
  // all found one, or its limit is not known.
  std::optional<size_t> refused_event;
};

class Counterfactual {
 public:
  Counterfactual(std::shared_ptr<const ForecastTrace> forecast,
                 StepStream stream);

  // The same step under a change; its limit does not count. Requests that it
  // resizes are those that were recorded (AppliesTo).
  Counterfactual Under(Scenario change) const;

  const ForecastTrace& forecast() const { return *trace_; }
  bool has_orders() const { return !trace_->orders.empty(); }
  // By XLA, which compiled the step.
  bool is_planned() const { return trace_->planned; }
  // An earlier step was recorded that did the same.
  bool is_recorded() const { return trace_->origin == kRecordedOrigin; }
  // Less than the step takes: sizes of some ops are not known.
  bool IsTooLow() const { return trace_->unknown_count > 0; }
  // The step was refused memory where it was sure to fit, or held more tensors
  // of an op by then than any order does: what it takes is not all known, and
  // nothing is sure to fit.
  bool IsContradicted() const;
  // Whether it is known what the change makes of the step's own requests.
  bool AppliesTo(const Scenario& change) const {
    return !change.resized || is_recorded();
  }
  // Whether other sizes of the batch can be told.
  bool scales() const { return scales_; }
  int64_t batch() const { return trace_->batch; }
  // What was live before the step.
  uint64_t live_bytes() const { return LiveBytes(0); }
  // The limit that was set; 0: unknown.
  uint64_t limit_bytes() const { return stream_->limit_bytes; }

  // In a pool without limit and pieces: what is in use at once.
  Need PeakOf(int64_t batch) const;
  // The smallest limits in which it finds a place, to 1 %; 0, or where it does
  // not scale: at the batch as it was.
  Need NeedOf(int64_t batch) const;
  // Whether a step of that batch, and those that follow it, find places in a
  // pool of that limit: in all orders, in some, or in none.
  Fit FitOf(int64_t batch, uint64_t limit_bytes) const;
  // The smallest limit in whole MiB that FitOf calls enough, as far as can be
  // known; 0: none was met.
  uint64_t EnoughLimit(int64_t batch) const;
  // The largest batch up to `most` that fits; 0: none.
  int64_t LargestBatch(uint64_t limit_bytes, int64_t most) const;
  // The largest that fits in all orders, were all of the step known; else in
  // one; 0: none.
  int64_t LargestBatchToHopeFor(uint64_t limit_bytes, int64_t most) const;

  OrderOutcome OutcomeOf(size_t order) const;

  // The bytes that a site asks for at a batch.
  uint64_t BytesOf(const ForecastSite& site, int64_t batch) const;

 private:
  // What is tried of a batch under any limit.
  struct AtBatch {
    int64_t batch = 0;
    // One for each order, with what was live before the step.
    std::vector<uint64_t> peaks;
    // What they were without scratch: no smaller limit serves one, or all.
    Need least;
    std::vector<PlannedStep> steps;
    uint64_t from_bytes = 0;
    // After what was recorded before the step, in a pool without a limit;
    // nothing: not made, or its pieces depend on the limit.
    std::optional<ServedPool> pool;
    BfcModel::Moment begin;
  };

  // So small a part of a limit must be to spare: for kernels' own scratch, and
  // what is copied into the pool by chance, as NumPy's arrays are.
  static constexpr uint64_t kSpareParts = 16;

  // The change, and what it means for recorded rows that the batch is another.
  Scenario ChangeAt(int64_t batch) const;
  std::vector<uint64_t> SiteBytes(int64_t batch) const;
  uint64_t LiveBytes(int64_t batch) const;
  AtBatch& At(int64_t batch) const;
  const std::vector<uint64_t>& PeaksOf(int64_t batch) const {
    return At(batch).peaks;
  }
  // The pool before the step; null: something found no place in it. It is of
  // `at`, or `own` then is it.
  ServedPool* PoolUnder(uint64_t limit_bytes, AtBatch* at,
                        std::optional<ServedPool>* own) const;
  // How often an order takes a tensor of an element, by site: the least.
  std::vector<size_t> ElementRequests() const;
  // So many elements more than were recorded a pipeline is tried with.
  size_t MostAhead() const;
  // Whether a pool of that limit serves some order as it is, and all orders
  // whatever chance makes of them: a trial each for how far the pipeline is
  // ahead, and one in which they follow one another.
  bool ServesSome(int64_t batch, uint64_t limit_bytes) const {
    return Serves(batch, limit_bytes, &Counterfactual::ServesSomeIn,
                  &some_served_);
  }
  bool ServesAll(int64_t batch, uint64_t limit_bytes) const {
    return Serves(batch, limit_bytes, &Counterfactual::ServesAllIn,
                  &all_served_);
  }
  bool ServesSomeIn(const AtBatch& at, ServedPool& pool) const;
  bool ServesAllIn(const AtBatch& at, ServedPool& pool) const;
  // What was tried once is known; by batch and limit.
  using Served = std::map<std::pair<int64_t, uint64_t>, bool>;
  using ServesIn = bool (Counterfactual::*)(const AtBatch&, ServedPool&) const;
  bool Serves(int64_t batch, uint64_t limit_bytes, ServesIn serves,
              Served* served) const;
  bool ServesTwice(const AtBatch& at, size_t order, ServedPool* pool) const;
  // Places as many elements as the pipeline is further ahead; false: it cannot.
  bool PutAhead(const AtBatch& at, size_t ahead, BfcModel* model) const;
  // Whether it serves all, and with a little less, too.
  bool IsSafe(int64_t batch, uint64_t limit_bytes) const {
    // The smaller one refuses more.
    return ServesAll(batch, limit_bytes - limit_bytes / kSpareParts) &&
           ServesAll(batch, limit_bytes);
  }
  // The smallest limit that serves, from that on; 0: none.
  using ServesUnder = bool (Counterfactual::*)(int64_t, uint64_t) const;
  uint64_t SmallestLimit(int64_t batch, uint64_t from_bytes,
                         ServesUnder serves) const;
  int64_t LargestOf(int64_t most,
                    const std::function<bool(int64_t)>& is_enough) const;
  // Gives back what the order asks for itself.
  void TakeElements(const ForecastOrderTrace& order, ServedPool* pool) const;

  std::shared_ptr<const ForecastTrace> trace_;
  std::shared_ptr<const StepStream> stream_;
  Scenario change_;
  // Before any change was made; null: this is it.
  std::shared_ptr<const Counterfactual> unchanged_;
  bool scales_ = false;
  // Orders that count, by index (LikelyOrders).
  std::vector<size_t> orders_;
  // Tensors of an op, when it was refused, than any order does.
  bool held_more_ = false;
  mutable std::optional<bool> is_contradicted_;
  // The batch that was asked about last.
  mutable std::shared_ptr<AtBatch> at_;
  mutable std::map<int64_t, Need> needs_;
  mutable Served some_served_;
  mutable Served all_served_;
  // The one of `orders_` that was refused last is likely to be again.
  mutable size_t hardest_ = 0;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_COUNTERFACTUAL_H_
