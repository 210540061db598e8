// What the pool held when a step began: what the requests of its forecast meet.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_POOL_BEFORE_STEP_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_POOL_BEFORE_STEP_H_

#include <cstdint>
#include <vector>

#include "converter/forensics/layout.h"
#include "converter/replay/allocator_replay.h"
#include "converter/trace/forecast_trace.h"
#include "core/bfc_model.h"

namespace oom_forensics {

// What a pool held when a step began.
struct PoolBeforeStep {
  // Sizes of what was live, oldest first.
  std::vector<uint64_t> live_bytes;
  // The kAlloc rows of the same; empty where they are of no recording.
  std::vector<Row> live_rows;
  // The limit that was set; 0: unknown.
  uint64_t limit_bytes = 0;
  // How it was set otherwise; the limit in it does not count.
  BfcSettings settings;
  // The map itself; empty where none is known.
  Layout layout;
  // The pieces that it had when XLA's block was refused: before its first step
  // a program traces and compiles, which is no part of the plan. Empty: those
  // of `layout`.
  Layout pieces_at_refusal;
  // ElementSites() of the forecast; empty: it has none.
  std::vector<bool> element_sites;
  // Of a step that was refused memory: what was in use then and the request; 0:
  // not known.
  uint64_t refused_need_bytes = 0;
};

// Of a recorded pool, at the position where the step began.
PoolBeforeStep PoolBefore(const AllocatorReplay& replay, Position position,
                          uint64_t limit_bytes);

// Where the run of a function began: before the first row of that step id which
// leads up to `failure`; without an id (TensorFlow 2.20 and older) where the
// training step began; `failure` itself where neither is recorded.
Position BeginOfRun(const AllocatorReplay& replay, Row failure,
                    int64_t step_id);

// As PoolBefore, of the step whose request failed, which has this forecast;
// less what the step takes from its input pipeline: that is among its requests,
// and may have been made before it.
PoolBeforeStep PoolBeforeRefusal(const AllocatorReplay& replay, Row failure,
                                 const ForecastTrace& forecast,
                                 uint64_t limit_bytes);

// By index into `forecast.sites`: whether it is the next element of an input
// pipeline.
std::vector<bool> ElementSites(const HostTrace& host,
                               const ForecastTrace& forecast);

// By index into `forecast.sites`: how many requests the one element makes that
// a step takes; 0: it is no element. `element_sites` as of ElementSites().
std::vector<uint32_t> ElementRequests(const ForecastTrace& forecast,
                                      const std::vector<bool>& element_sites);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_FORECAST_POOL_BEFORE_STEP_H_
