// Lines of the user's program as messages.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_SOURCE_FRAMES_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_SOURCE_FRAMES_H_

#include "converter/trace/site_source.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

SourceFrame MakeSourceFrame(const HostTrace& host, LineId line);

// Which frames of a call a location holds.
enum class Frames { kNone, kAll };

// False where nothing is recorded of the site; `location` is as it was.
bool FillSourceLocation(const HostTrace& host, const AllocationSite& site,
                        Frames frames, SourceLocation* location);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_SOURCE_FRAMES_H_
