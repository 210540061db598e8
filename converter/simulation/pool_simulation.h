// The recorded requests of a pool, served once more under other conditions by a
// model of TensorFlow's allocator (core/bfc_model.h), in the order in which the
// allocator served them.
#ifndef OOM_FORENSICS_CONVERTER_SIMULATION_POOL_SIMULATION_H_
#define OOM_FORENSICS_CONVERTER_SIMULATION_POOL_SIMULATION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "converter/replay/allocator_replay.h"
#include "converter/simulation/serving_order.h"
#include "core/bfc_model.h"

namespace oom_forensics {

// A completed step that did what the failed one was to do.
struct CompletedStep {
  Row begin = 0;
  Row end = 0;
  // Where the failed step begins.
  Row failed_begin = 0;
};

// What is different. Unset: as recorded.
struct Scenario {
  // Bytes that an allocation, or the failed request, asks for, from those that
  // it would ask for otherwise.
  std::function<uint64_t(Row, uint64_t bytes)> resized;
  // True: the allocation is never made (or was released before).
  std::function<bool(Row)> is_left_out;
  std::optional<uint64_t> limit_bytes;
  // One region of the limit's size in place of growth.
  bool one_region = false;
  // The pool grows, though it did not.
  bool grows = false;
  std::optional<bool> garbage_collection;
  // Allocations (kAlloc rows, or the failed one) whose like is known to be
  // asked for after the failed request, and must fit too.
  std::vector<Row> then_like;
  // The failed step is begun anew, and all requests of this one must find a
  // place.
  std::optional<CompletedStep> then_step;
};

// Both at once.
Scenario Together(const Scenario& first, const Scenario& second);

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
  // Scenario::then_step: the most that was in use in that step.
  uint64_t step_peak_bytes = 0;
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

  const BfcSettings& settings() const { return settings_; }

 private:
  const AllocatorReplay& replay_;
  const ServingOrder& order_;
  const BfcSettings settings_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SIMULATION_POOL_SIMULATION_H_
