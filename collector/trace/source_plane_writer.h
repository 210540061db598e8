// The plane of the user's source lines (proto/event_schema.h, "Source lines").
#ifndef OOM_FORENSICS_COLLECTOR_TRACE_SOURCE_PLANE_WRITER_H_
#define OOM_FORENSICS_COLLECTOR_TRACE_SOURCE_PLANE_WRITER_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collector/recording/event.h"
#include "collector/recording/stack_table.h"

namespace oom_forensics::collector {

// What the plane says of source lines as a whole.
struct SourceFacts {
  // "on", or "off: " and why.
  std::string state;
  uint64_t dropped_stacks = 0;
  // How a file is written: "full", "project" (without `project_root`; of other
  // files the name alone) or "none" (not at all).
  std::string paths = "full";
  std::string project_root;
};

// A file's path in the form that `facts` ask for.
std::string_view ShownPath(const SourceFacts& facts, std::string_view file);

// Appends the plane to `space`, a serialized XSpace. `stacks` is
// StackTable::Snapshot(), `used` the ids of those that are referred to.
void WriteSourcePlane(const SourceFacts& facts,
                      const std::vector<const StackFrames*>& stacks,
                      const std::set<StackId>& used, std::string* space);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TRACE_SOURCE_PLANE_WRITER_H_
