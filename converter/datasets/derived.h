// What datasets derive from an allocator's replay, kept by its host from one
// question to the next.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_DERIVED_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_DERIVED_H_

#include <cstdint>
#include <memory>
#include <string>

#include "converter/datasets/group_timeline.h"
#include "converter/datasets/selection.h"
#include "converter/replay/hole_timeline.h"
#include "converter/replay/usage_timeline.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// A name for AnswerCache of what depends on an allocator and a filter, whatever
// the filter's range. `type` says what it is, and on what else it depends.
std::string DerivedName(const std::string& type,
                        const SelectedAllocator& allocator, Filter filter);

// The use over time of what the filter keeps, whatever its range.
std::shared_ptr<const UsageTimeline> FilteredUsage(
    const SelectedAllocator& allocator, const Filter& filter);

// Bytes by group over time, of what the filter keeps, whatever its range.
std::shared_ptr<const GroupTimeline> GroupsOverTime(
    const SelectedAllocator& allocator, const Filter& filter, GroupBy group_by);

// The holes over time, for a request.
std::shared_ptr<const HoleTimeline> HolesOverTime(
    const SelectedAllocator& allocator, uint64_t request_bytes);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_DERIVED_H_
