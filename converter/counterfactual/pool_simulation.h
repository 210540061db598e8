// The recorded requests of a pool, served once more under other conditions by a
// model of TensorFlow's allocator (converter/bfc/bfc_model.h), in the order in
// which the allocator served them.
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_POOL_SIMULATION_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_POOL_SIMULATION_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/bfc/bfc_model.h"
#include "converter/counterfactual/serving_order.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

// What is different. Unset: as recorded.
struct Scenario {
  // Bytes that an allocation, or the failed request, asks for, from those that
  // it would ask for otherwise.
  std::function<uint64_t(Row, uint64_t bytes)> resized;
  // True: the allocation is never made (or was released before).
  std::function<bool(Row)> is_left_out;
  std::optional<uint64_t> limit_bytes;
  // One region of the limit's size instead of growth.
  bool one_region = false;
  // The pool grows, though it did not.
  bool grows = false;
  std::optional<bool> garbage_collection;
  // Allocations (kAlloc rows, or the failed one) whose like is known to be
  // asked for after the failed request, and must fit too.
  std::vector<Row> then_like;
};

// Both at once.
Scenario Together(const Scenario& first, const Scenario& second);

// The settings of a pool of which the scenario changes some.
BfcSettings Changed(BfcSettings settings, const Scenario& scenario);

struct SimulatedChunk {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  // kNoRow: free.
  Row row = kNoRow;
};

struct Simulation {
  // A request that found no place, though TensorFlow gave it one, or it is the
  // last of the range, or of what follows it; kNoRow: all did. Nothing is
  // served after it.
  Row refused = kNoRow;
  uint64_t refused_bytes = 0;
  // The first that TensorFlow refused and that is refused again; kNoRow: none.
  Row refused_again = kNoRow;
  // The last request of the range was asked for; it is `refused` or not.
  bool reached_end = false;
  uint64_t peak_in_use_bytes = 0;
  uint64_t peak_reserved_bytes = 0;
  // Where it ended, or at `map_at`.
  uint64_t in_use_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t largest_free_bytes = 0;
  // Requests that were served, and how many of them found a place that is not
  // the recorded one.
  uint64_t requests = 0;
  uint64_t moved = 0;
  // The pool at `map_at`, or when it ended before.
  std::vector<BfcRegion> regions;
  std::vector<SimulatedChunk> chunks;

  uint64_t ResidentBytes() const {
    return sizeof(*this) + regions.capacity() * sizeof(BfcRegion) +
           chunks.capacity() * sizeof(SimulatedChunk);
  }
};

// A pool after some rows, for others to go on from.
struct ServedPool {
  // Where the model's regions come from.
  std::unique_ptr<RegionSource> regions;
  std::unique_ptr<BfcModel> model;
  // Where the live allocations lie in the model.
  absl::flat_hash_map<Row, ChunkId> chunk_of;
};

class PoolSimulator {
 public:
  // `order` and `replay` must outlive it.
  PoolSimulator(const AllocatorReplay& replay, const ServingOrder& order,
                const BfcSettings& settings)
      : replay_(replay), order_(order), settings_(settings) {}

  struct Range {
    // First row that is served; what was live then is there already, where it
    // lay if the scenario lets it.
    Row from = 0;
    // Ends before this row, or behind it where it is a request that failed:
    // that is asked for too. Other requests that failed are asked for and given
    // back when their thread asks for something else.
    Row to = 0;
    // The position whose map is wanted.
    std::optional<Position> map_at;
  };
  Simulation Run(const Scenario& scenario, const Range& range) const;

  // The pool at the end of the range, without the rows that `is_skipped` says;
  // nothing: a request found no place. Whether the system had larger regions
  // when it was recorded is not asked: what follows is another program.
  std::optional<ServedPool> Serve(
      const Scenario& scenario, const Range& range,
      const std::function<bool(Row)>& is_skipped) const;

  const BfcSettings& settings() const { return settings_; }

 private:
  const AllocatorReplay& replay_;
  const ServingOrder& order_;
  const BfcSettings settings_;
};

// As PoolSimulator::Run, without maps, and with nothing moved, in a pool where
// holes are no waste: one that puts blocks together from pieces, as CUDA's own
// (cuda_malloc_async) does. Only sums count.
Simulation RunGapless(const AllocatorReplay& replay, const Scenario& scenario,
                      const PoolSimulator::Range& range, uint64_t limit_bytes);

// The one search for limits of a pool.
//
// The smallest number from `least` (at least 1) to `most` for which
// `is_enough(uint64_t) -> bool`, found by widening steps and then by halving;
// 0: none was met. A pool that is larger is not always enough where a smaller
// one is, so a number that is asked about is not passed by (0: none is).
template <typename IsEnough>
uint64_t SmallestEnough(uint64_t least, uint64_t most, uint64_t asked,
                        const IsEnough& is_enough) {
  uint64_t enough = least;
  uint64_t too_little = least - 1;
  for (uint64_t width = 1; !is_enough(enough); width *= 2) {
    if (enough >= most) return 0;
    too_little = enough;
    enough = std::min(most, enough + width);
    if (too_little < asked && asked < enough) enough = asked;
  }
  while (enough - too_little > 1) {
    const uint64_t middle = too_little + (enough - too_little) / 2;
    (is_enough(middle) ? enough : too_little) = middle;
  }
  return enough;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_POOL_SIMULATION_H_
