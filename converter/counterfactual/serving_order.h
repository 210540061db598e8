// The order in which the allocator served its threads.
//
// A collector that sees into the pool records in this very order
// (collector/tensorflow/serving_hooks.h), and nothing is to be found. Where it
// does not, an allocation is recorded after the allocator has served it, a
// release before it does: so between threads the order of the rows is not
// always the order in which they took place, and where a chunk lies depends on
// that. But the addresses are recorded. The rows are gone through in a model of
// the allocator, and where it would place an allocation elsewhere, the last few
// rows are put into another order in which everything lies where it was
// recorded: an allocation earlier, a release later, and never against a
// thread's own order. Where no order explains row after row (it may be no BFC
// pool at all), the search is given up, and the rows stay as recorded.
//
//   rows       a1   f0   a2       a2 lies where f0 was not free yet
//   served     a1   a2   f0
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_SERVING_ORDER_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_SERVING_ORDER_H_

#include <cstdint>
#include <vector>

#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

struct ServingOrder {
  // All rows of the range, as served, and perhaps some that follow it.
  std::vector<Row> rows;
  // Allocations among them, and how many the model places as recorded.
  uint64_t requests = 0;
  uint64_t alike = 0;
  // Rows that were served after one that was recorded later.
  uint64_t reordered = 0;

  bool explains_all() const { return alike == requests; }
  uint64_t ResidentBytes() const { return rows.capacity() * sizeof(Row); }
};

// Finds the order of the rows in [from, to) of an allocator with a layout.
ServingOrder FindServingOrder(const AllocatorReplay& replay, Row from, Row to);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_SERVING_ORDER_H_
