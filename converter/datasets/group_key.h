// What an allocation is grouped by.
#ifndef OOM_FORENSICS_CONVERTER_DATASETS_GROUP_KEY_H_
#define OOM_FORENSICS_CONVERTER_DATASETS_GROUP_KEY_H_

#include <string>

#include "converter/datasets/selection.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Whether the group is the same for all allocations of a site.
bool IsGroupOfSite(GroupBy group_by);

// The key of a site; for scopes the whole path, "(eager ops)/MatMul" or
// "(no scope)/MatMul" where there is none. Only where IsGroupOfSite.
std::string SiteGroupKey(const HostTrace& host, const AllocationSite& site,
                         GroupBy group_by);

// The key of a line, as GROUP_LINE has it.
std::string LineGroupKey(const HostTrace& host, LineId line);

// The key of an allocation at a moment (ages are seen from there).
std::string GroupKey(const SelectedAllocator& allocator,
                     const AllocationPart& part, Position position,
                     GroupBy group_by);

// The role of an allocation, or of a part of it.
Role RoleOf(const SelectedAllocator& allocator, const AllocationPart& part);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_DATASETS_GROUP_KEY_H_
