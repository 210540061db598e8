// A host's trace and what the replay of each of its allocators came to.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_REPLAYED_HOST_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_REPLAYED_HOST_H_

#include <memory>
#include <vector>

#include "converter/replay/allocator_replay.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

struct ReplayedHost {
  std::unique_ptr<const HostTrace> trace;
  // In the order of trace->allocators.
  std::vector<std::unique_ptr<AllocatorReplay>> allocators;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_REPLAYED_HOST_H_
