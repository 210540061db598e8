// What the step that never ended would have needed: its forecast requests,
// replayed through the model of the allocator from what was live before it.
//
//   StepForecastModel forecast(trace, forecast_trace, PoolBefore(replay,
//   position)); const Need need = forecast.NeedOf(32);       // 819 to 1310 MiB
//   if (forecast.FitOf(32, limit_bytes) == Fit::kFits) ...
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_STEP_FORECAST_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_STEP_FORECAST_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "converter/forensics/forecast/pool_before_step.h"
#include "converter/forensics/successive_steps.h"
#include "converter/replay/allocator_replay.h"
#include "converter/trace/forecast_trace.h"
#include "core/bfc_model.h"

namespace oom_forensics {

// The forecast of the step whose request failed; null: the trace has none.
const ForecastTrace* ForecastOf(const AllocatorReplay& replay, Row failure);

// The largest batch up to `most` that a person would choose: above 8 a multiple
// of 8, as hardware likes them.
int64_t BatchToName(int64_t most);

enum class Fit { kUnknown, kFits, kUncertain, kDoesNotFit };

// The smallest limit that is enough, over the orders that were tried.
struct Need {
  uint64_t low_bytes = 0;
  uint64_t high_bytes = 0;
};

// What became of one order in the pool as it was.
struct OrderOutcome {
  uint64_t peak_in_use_bytes = 0;
  uint64_t smallest_limit_bytes = 0;
  // Index of the event that found no place; nothing: all found one, or there is
  // no map.
  std::optional<size_t> refused_event;
};

class StepForecastModel {
 public:
  // A limit is called enough only with so much to spare above the order that
  // needs most, what was live before included: orders that were not tried may
  // need more, scratch of some kernels is not forecast, and many steps divide
  // the pool further than one (docs/forecast.md).
  static constexpr double kMargin = 0.2;
  // Where the forecast was seen to be too low, by how much is not known.
  static constexpr double kMarginIfCorrected = 0.4;

  // And for so many elements of an input pipeline, which works ahead of the
  // steps: one that is ready, and one in each of two parallel calls. How many
  // there are when a step begins is chance.
  static constexpr uint64_t kElementsAhead = 3;

  // `forecast` must outlive it.
  StepForecastModel(const ForecastTrace& forecast, PoolBeforeStep pool);

  // The same step, had the pool held something else.
  StepForecastModel With(PoolBeforeStep pool) const;

  bool has_orders() const { return !forecast_.orders.empty(); }
  // By XLA, which compiled the step.
  bool is_planned() const { return forecast_.planned; }
  // Less than the step takes: sizes of some ops are not known.
  bool IsTooLow() const { return forecast_.unknown_count > 0; }
  // The step was refused memory in a pool with more than the forecast says it
  // needs: the forecast is too low, or the pool was in pieces. All needs are
  // then told so much larger that it would have been refused.
  bool IsCorrected() const { return correction_ > 1.0; }
  // Whether other sizes of the batch can be told.
  bool scales() const { return scales_; }
  int64_t batch() const { return forecast_.batch; }
  uint64_t live_bytes() const { return live_bytes_; }
  const PoolBeforeStep& pool() const { return pool_; }

  // The need at a batch; 0, or where it does not scale: as it was.
  Need NeedOf(int64_t batch) const;
  // Whether a step of that batch fits into the limit.
  Fit FitOf(int64_t batch, uint64_t limit_bytes) const;
  // The smallest limit above the margin that FitOf calls enough for that batch,
  // in steps of a sixteenth. A larger pool is not always enough where a smaller
  // one is: it grows in larger pieces, and gives them away whole.
  uint64_t EnoughLimit(int64_t batch) const;
  // The largest batch up to `most` that fits, as BatchToName has it where that
  // one fits, too; 0: none.
  int64_t LargestBatch(uint64_t limit_bytes, int64_t most) const;
  // The largest batch up to `most` that the limit is enough for in all orders,
  // be it without a margin; else in the order that needs least, with a margin;
  // else one that needs nearly as little as 1, where the limit is enough for
  // that at all; 0: none.
  int64_t LargestBatchToHopeFor(uint64_t limit_bytes, int64_t most) const;

  OrderOutcome OutcomeOf(const ForecastOrderTrace& order) const;

  // The bytes that a site asks for at a batch.
  uint64_t BytesOf(const ForecastSite& site, int64_t batch) const;

 private:
  uint64_t PeakOf(const ForecastOrderTrace& order, int64_t batch) const;
  // Of the order that has most at once.
  uint64_t HighestPeak(int64_t batch) const;
  // The largest batch up to `most` that is enough, as LargestBatch names it.
  int64_t LargestOf(int64_t most,
                    const std::function<bool(int64_t)>& is_enough) const;
  // Whether a pool of that limit, filled anew, serves all requests of the first
  // step and of the next one.
  bool IsServed(const ForecastOrderTrace& order, int64_t batch,
                uint64_t from_bytes, uint64_t limit_bytes) const;
  // Whether it serves steps in all orders, one after the other.
  bool AreAllServed(int64_t batch, uint64_t limit_bytes) const;
  // The same, found out anew: in a pool that grows from nothing, or in one that
  // begins with the pieces of the recorded one.
  bool ServesAll(int64_t batch, uint64_t limit_bytes,
                 bool begins_with_pieces) const;
  // Whether the recorded pool had pieces when the step began that a pool of
  // that limit does not come to by what was live alone. What a program did
  // before the step (make its variables, say) it does in any limit.
  bool HadOtherPieces(uint64_t limit_bytes) const;
  const Layout& Pieces() const;
  // A pool of these pieces; with what was live in them, or empty.
  BfcModel PoolInPieces(uint64_t limit_bytes, bool with_live) const;
  // Puts what was live into an empty pool; false: it has no room for it.
  bool HoldsLive(uint64_t from_bytes, BfcModel* model) const;
  // The limit that a need is promised in.
  uint64_t WithMargin(int64_t batch, uint64_t need_bytes) const;
  uint64_t Corrected(uint64_t bytes) const;
  // What batches of that size take that the pipeline has made ahead.
  uint64_t AheadBytes(int64_t batch) const;
  Need SimulatedNeed(int64_t batch) const;
  uint64_t SmallestLimit(const ForecastOrderTrace& order, int64_t batch) const;
  SuccessiveSteps StepsOf(int64_t batch, uint64_t from_bytes,
                          BfcModel* model) const;
  BfcSettings SettingsOf(uint64_t limit_bytes) const;

  const ForecastTrace& forecast_;
  const PoolBeforeStep pool_;
  uint64_t live_bytes_ = 0;
  bool scales_ = false;
  // What needs are multiplied by (IsCorrected).
  double correction_ = 1.0;
  // By batch. Asked for again and again while a batch is sought.
  mutable std::map<int64_t, Need> needs_;
  // By batch and limit. A remedy is sought by it, and graded by it again.
  mutable std::map<std::pair<int64_t, uint64_t>, bool> all_served_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_STEP_FORECAST_H_
