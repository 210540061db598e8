// Parts of answers that several datasets share.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_ANSWER_PARTS_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_ANSWER_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/compiled/chunk_parts.h"
#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/replay/hole_timeline.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// All that is known of an allocation (a kAlloc row).
Allocation MakeAllocation(const SelectedAllocator& allocator, Row alloc);

// The same of a part of an allocation: its buffer inside a compiled block.
Allocation MakePart(const SelectedAllocator& allocator,
                    const AllocationPart& part);

// A request (a kAlloc or kFailed row), for so many bytes.
Request MakeRequest(const SelectedAllocator& allocator, Row row,
                    uint64_t requested_bytes);

// A part of a block that is shown at another point of its program than its
// own peak: the part lies there then, the number-th of the block.
Allocation MakePartAtPoint(const SelectedAllocator& allocator, Row row,
                           const CompiledAllocation& block,
                           const ChunkPart& part, int32_t number);

// Describes what XLA asked for; `site` is the request's.
CompiledBlock MakeCompiledBlock(const HostTrace& host,
                                const AllocationSite& site);

// An event of the timeline.
TimelineEvent MakeTimelineEvent(const SelectedAllocator& allocator, Row row);

// Each measure of fragmentation by its name (docs/measures.md).
// `request_bytes`: what unusable_free is measured against.
FragmentationMeasures MakeMeasures(const AllocatorReplay& replay,
                                   Position position, const HoleState& holes,
                                   uint64_t request_bytes);

// The use at a position, as a moment; `usage` may count only a part.
PeakMoment MakePeakMoment(const SelectedAllocator& allocator,
                          const UsageTimeline& usage, Position position);

// The event that led to a position, as the contract numbers it: -1 for the
// baseline.
int64_t EventBefore(const AllocatorTrace& trace, Position position);

// The holes of a map as HoleTimeline states them.
HoleState HolesOf(const ChunkMap& map, uint64_t request_bytes);

// The request that unusable_free is measured against where the query does not
// say: of the allocator's OOM nearest to the position, else its largest ever.
uint64_t RequestForMeasures(const AllocatorReplay& replay, Position position,
                            uint64_t asked_bytes);

// The counters of the allocators and of their hosts.
void AddQuality(const Selection& selected,
                google::protobuf::RepeatedPtrField<Quality>* quality);

// The same, and those of the hosts that the query's filter keeps and that have
// no such allocator: what is missing there may be the reason.
void AddQuality(const DatasetInput& input, const Selection& selected,
                google::protobuf::RepeatedPtrField<Quality>* quality);

// Marks of failures and regions within [from, to) rows, and the steps within
// the range of time; at most `limit` of each, OOMs first.
void AddMarks(const Run& run, const SelectedAllocator& allocator,
              const NsRange& range, size_t limit, TimelineSeries* series);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_ANSWER_PARTS_H_
