// The pool of a WHAT_IF question: its recorded requests, served as often as
// needed.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_POOL_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_POOL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "converter/counterfactual/pool_simulation.h"
#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

class WhatIfPool {
 public:
  // `sums_only`: no allocator is run, only sums are held against the limit;
  // else the allocator has a layout.
  WhatIfPool(const SelectedAllocator& allocator, bool sums_only);

  const SelectedAllocator& allocator() const { return allocator_; }
  bool sums_only() const { return sums_only_; }
  // As the trace shows the pool to have been set.
  const BfcSettings& settings() const { return settings_; }
  // What the trace says that the pool could hold; 0: it says nothing.
  uint64_t recorded_limit_bytes() const { return recorded_limit_bytes_; }
  // The order in which the allocator served, and what the model makes of it,
  // nothing being different. Not where only sums are asked for.
  const ServingOrder& order() const { return *order_; }
  const Simulation& as_recorded() const { return *as_recorded_; }
  // First row that is served.
  Row from() const { return range_.from; }

  Simulation Run(const Scenario& scenario,
                 std::optional<Position> map_at) const;
  static bool Fits(const Simulation& run) {
    return run.refused == kNoRow && run.refused_again == kNoRow;
  }

  struct SmallestLimit {
    // In whole MiB; 0: none was found.
    uint64_t bytes = 0;
    // All that were tried, by limit.
    std::vector<WhatIfLimit> tried;
  };
  // The smallest limit in which all requests of the scenario find a place,
  // whatever limit the scenario itself has. Several replays.
  SmallestLimit FindSmallestLimit(const Scenario& scenario) const;

 private:
  const SelectedAllocator& allocator_;
  const bool sums_only_;
  uint64_t recorded_limit_bytes_ = 0;
  BfcSettings settings_;
  std::shared_ptr<const ServingOrder> order_;
  PoolSimulator::Range range_;
  std::shared_ptr<const Simulation> as_recorded_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_WHAT_IF_POOL_H_
