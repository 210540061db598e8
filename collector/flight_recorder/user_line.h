// The line of the user's program that asked, in words.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_USER_LINE_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_USER_LINE_H_

#include <string>
#include <vector>

#include "collector/recording/event.h"
#include "collector/recording/stack_table.h"
#include "collector/trace/source_plane_writer.h"

namespace oom_forensics::collector {

// "/home/me/train.py:41 in augment: x = x + noise"; empty where the stack has
// no line of the user's. `stacks` is StackTable::Snapshot().
std::string UserLine(const SourceFacts& facts,
                     const std::vector<const StackFrames*>& stacks,
                     StackId stack);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_USER_LINE_H_
