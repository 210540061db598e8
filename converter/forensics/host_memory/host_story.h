// Why a process died, or where the memory of its host went: by the samples of
// it and by who holds the blocks that are live.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_STORY_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_STORY_H_

#include "converter/replay/allocator_replay.h"
#include "converter/trace/host_trace.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Fills all of `series` but its columns and parts. `blocks` are the live blocks
// beside TensorFlow's pools; null: they were not watched.
void TellHostStory(const HostTrace& host, const AllocatorReplay* blocks,
                   HostMemorySeries* series);

// The allocator of a host that has these blocks.
bool HasHostBlocks(const AllocatorTrace& allocator);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_STORY_H_
