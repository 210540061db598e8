// The requests of a forecast step, and of the steps that follow it, in a pool.
//
// What a step has not given back at its end has one of three fates. The first
// step of an optimizer gives each of its slots a place of their own, which they
// keep: no later step asks for it again, but each has that much less room. The
// element that a pipeline made for the next step lives until that has it. Of a
// step as it was recorded, or as XLA planned it, the results take the place of
// what was there before.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_SUCCESSIVE_STEPS_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_SUCCESSIVE_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "converter/trace/forecast_trace.h"
#include "core/bfc_model.h"

namespace oom_forensics {

// ForecastTrace::origin of a step that was recorded, not forecast.
inline constexpr char kRecordedOrigin[] = "recorded";

class SuccessiveSteps {
 public:
  // `element_sites`: as PoolBeforeStep has them. `bytes`: what each site of the
  // forecast asks for. Requests below `from_bytes` are not placed. `forecast`,
  // `element_sites` and `model` must outlive it.
  SuccessiveSteps(const ForecastTrace& forecast,
                  const std::vector<bool>& element_sites,
                  std::vector<uint64_t> bytes, uint64_t from_bytes,
                  BfcModel* model);

  // Runs one more step in the pool: the index of the event that is refused, on
  // which no other step may follow; nothing: all is served. Each free comes up
  // to `most_late` events late, in each step by another chance: which thread is
  // first decides where things lie. What is missing until then is waited for,
  // as TensorFlow does.
  std::optional<size_t> Run(const ForecastOrderTrace& order,
                            size_t most_late = 0);

  // The most that the first step and the next one hold at a time, each in this
  // order, without what was live before the first. Uses no pool.
  uint64_t PeakOf(const ForecastOrderTrace& order) const;

 private:
  enum class Fate { kFreed, kStays, kUntilNextStep, kReplaces };

  // A chunk that is free once this event is due.
  struct LateFree {
    size_t due = 0;
    ChunkId chunk = kNoChunk;
  };

  // Gives back what is due by then.
  void FreeUntil(size_t event, std::vector<LateFree>* late);
  // What becomes of each request of an order, by its number.
  std::vector<Fate> FatesOf(const ForecastOrderTrace& order) const;

  const ForecastTrace& forecast_;
  const std::vector<bool>& element_sites_;
  const std::vector<uint64_t> bytes_;
  const uint64_t from_bytes_;
  BfcModel* const model_;
  // That have ended.
  size_t steps_ = 0;
  std::vector<ChunkId> until_next_step_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_SUCCESSIVE_STEPS_H_
