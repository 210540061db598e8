// Replays the requests of a real trace through a model of TensorFlow's
// allocator under other conditions: would the request that failed have been
// placed, had something been different?
//
// The replay begins with the exact layout of an earlier moment, so what was
// fragmented then is so in the model. It covers the rows from BeginOfRange()
// on; what lay in memory when it begins is changed where it lies (a smaller
// tensor leaves a hole behind it).
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_WHAT_IF_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_WHAT_IF_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "converter/counterfactual/pool_simulation.h"
#include "converter/counterfactual/serving_order.h"
#include "converter/forensics/layout.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

struct Outcome {
  // The request found a place, and so did all before it.
  bool placed = false;
  // An earlier request found none; the replay ended there.
  bool failed_before = false;
  uint64_t in_use_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t largest_free_bytes = 0;
  // Requests that were replayed, and how many of them found a place that is not
  // the recorded one.
  uint64_t requests = 0;
  uint64_t moved = 0;
};

// The layout of an allocator with the kAlloc row as holder and ages at that
// position.
Layout LayoutAt(const AllocatorReplay& replay, Position position);

class WhatIf {
 public:
  // `failure` is a kFailed row, `limit_bytes` what the pool could grow to (0:
  // unknown). `replay` must outlive it.
  WhatIf(const AllocatorReplay& replay, Row failure, uint64_t limit_bytes);

  // The allocator's settings as the trace shows them.
  const BfcSettings& settings() const { return settings_; }
  // The model, run as recorded.
  const Outcome& as_recorded() const { return as_recorded_; }
  // Whether it then fails as the allocator did, and placed all before as the
  // allocator did. Without a layout only sums count, in a pool without gaps.
  // Where it does not, no outcome proves anything.
  bool IsFaithful() const {
    return !as_recorded_.placed && !as_recorded_.failed_before &&
           as_recorded_.moved == 0;
  }
  // As the allocator served the rows that are replayed.
  const std::shared_ptr<const ServingOrder>& order() const { return order_; }

  Outcome Try(const Scenario& scenario) const;

 private:
  const AllocatorReplay& replay_;
  const Row failure_;
  Row from_ = 0;
  BfcSettings settings_;
  // The order of the rows that are replayed; empty without a layout.
  const std::shared_ptr<const ServingOrder> order_;
  Outcome as_recorded_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_WHAT_IF_H_
