// What datasets derive from an allocator's replay, kept by its host from one
// question to the next.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_CACHED_TIMELINES_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_CACHED_TIMELINES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "converter/counterfactual/batch_shares.h"
#include "converter/counterfactual/pool_simulation.h"
#include "converter/counterfactual/serving_order.h"
#include "converter/datasets/group_timeline.h"
#include "converter/datasets/selection.h"
#include "converter/forensics/batch_dimension.h"
#include "converter/forensics/leak_finder.h"
#include "converter/replay/hole_timeline.h"
#include "converter/replay/usage_timeline.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// The use over time of what the filter keeps, whatever its range.
std::shared_ptr<const UsageTimeline> FilteredUsage(
    const SelectedAllocator& allocator, const Filter& filter);

// Bytes by group over time, of what the filter keeps, whatever its range.
std::shared_ptr<const GroupTimeline> GroupsOverTime(
    const SelectedAllocator& allocator, const Filter& filter, GroupBy group_by);

// The leaks as seen from a position.
std::shared_ptr<const LeakSearchResult> LeaksAt(
    const SelectedAllocator& allocator, Position position);

// The holes over time, for a request.
std::shared_ptr<const HoleTimeline> HolesOverTime(
    const SelectedAllocator& allocator, uint64_t request_bytes);

// The order in which the allocator served its requests; null where it has no
// layout.
std::shared_ptr<const ServingOrder> OrderOf(const SelectedAllocator& allocator);

// What came of the requests of `range` in a model of the allocator, nothing
// being different. It has a layout.
std::shared_ptr<const Simulation> SimulationOf(
    const SelectedAllocator& allocator, const ServingOrder& order,
    const BfcSettings& settings, const PoolSimulator::Range& range);

// The position that an allocator's story turns on: of its first OOM, else its
// peak.
Position DecisivePosition(const AllocatorReplay& replay);

// The batch as the shapes up to DecisivePosition() show it, if they do.
struct FoundBatch {
  std::optional<BatchDimension> batch;

  uint64_t ResidentBytes() const { return sizeof(*this); }
};
std::shared_ptr<const FoundBatch> BatchOf(const SelectedAllocator& allocator);

// What grows with the batch: as the step of the first OOM was forecast, or as
// the shapes show it.
BatchShares BatchSharesOf(const SelectedAllocator& allocator);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_CACHED_TIMELINES_H_
