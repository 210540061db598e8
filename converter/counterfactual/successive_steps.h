// The requests of a forecast step, and of the steps that follow it, in a pool.
//
// What a step has not given back at its end has one of three fates. The first
// step of an optimizer gives each of its slots a place of their own, which they
// keep: no later step asks for it again, but each has that much less room. The
// element that a pipeline made for the next step lives until that has it. Of a
// step as it was recorded, or as XLA planned it, the results take the place of
// what was there before.
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_SUCCESSIVE_STEPS_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_SUCCESSIVE_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "converter/bfc/bfc_model.h"
#include "converter/trace/forecast_trace.h"

namespace oom_forensics {

// ForecastTrace::origin of a step that was recorded, not forecast.
inline constexpr char kRecordedOrigin[] = "recorded";

// One order of a step, its requests in bytes.
class PlannedStep {
 public:
  // `element_sites`: of the forecast, whether it is a tensor of a pipeline's
  // element. `bytes`: what each of its sites asks for.
  PlannedStep(const ForecastTrace& forecast,
              const std::vector<bool>& element_sites,
              const std::vector<uint64_t>& bytes,
              const ForecastOrderTrace& order);

  // The most that the first step and the next one hold at a time, without what
  // was live before the first, where all get memory at once.
  uint64_t PeakBytes() const { return PeakBytes(/*with_scratch=*/true); }
  // The same without scratch: no pool is smaller, however long scratch waits.
  uint64_t LeastPeakBytes() const { return PeakBytes(/*with_scratch=*/false); }
  // Requests below that are not placed from now on.
  void LeaveOut(uint64_t below_bytes);

 private:
  friend class SuccessiveSteps;
  enum class Fate { kFreed, kStays, kUntilNextStep, kReplaces };
  struct Event {
    bool is_free = false;
    bool is_scratch = false;
    StringId op = kEmptyString;
    // The number of the request; 0 bytes: a free.
    uint32_t number = 0;
    uint64_t bytes = 0;
    // In the order.
    size_t index = 0;
  };

  uint64_t PeakBytes(bool with_scratch) const;

  std::vector<Event> events_;
  std::vector<Fate> fates_;
};

class SuccessiveSteps {
 public:
  // Must outlive it.
  explicit SuccessiveSteps(BfcModel* model) : model_(model) {}

  // Runs one more step in the pool: the index of the event that is refused, on
  // which no other step may follow; nothing: all is served. TensorFlow has an
  // op wait for memory while others run. Scratch may come as late as its op's
  // end; an output may not, as it is not known who waits for that. Both can
  // count on what ops that run already hold as scratch: these need nobody to
  // come to their end. `most_late`: so many events later, by chance, something
  // is given back, as with threads: it then lies elsewhere the next time.
  std::optional<size_t> Run(const PlannedStep& step, size_t most_late = 0);

 private:
  struct LateFree {
    size_t due = 0;
    ChunkId chunk = kNoChunk;
  };

  // Gives back what is due.
  void FreeUntil(size_t event);

  BfcModel* const model_;
  // That have ended.
  size_t steps_ = 0;
  std::vector<ChunkId> until_next_step_;
  std::vector<LateFree> late_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_SUCCESSIVE_STEPS_H_
