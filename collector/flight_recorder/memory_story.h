// MemoryStory: what the memory of a process looked like at one moment, out of a
// recording: who holds what, what was asked for last, and, of an out-of-memory,
// what failed and why. The one place where the recorder's facts become the
// numbers that both the summary on stderr and the JSON report show.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_MEMORY_STORY_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_MEMORY_STORY_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/recording/recording.h"
#include "collector/recording/site_interner.h"
#include "collector/tensorflow/allocator_state.h"
#include "core/placement.h"

namespace oom_forensics::collector {

// Live allocations of one allocator, of one op, shape, dtype and mode; or of
// one kind of buffer of one compiled function.
struct Holder {
  AllocatorId allocator = 0;
  SiteKey site;
  uint64_t count = 0;
  uint64_t requested_bytes = 0;
  uint64_t allocated_bytes = 0;
};

// A recorded allocation with its names.
struct NamedAllocation {
  Event event;
  SiteKey site;
  int64_t training_step = kNoStep;
};

struct OutOfMemory {
  Event event;
  SiteKey site;
  Failure failure;
  int64_t training_step = kNoStep;
  // Allocations of its allocator that may be missing among the holders.
  uint64_t unlisted_allocations = 0;
  // Why it was not met, out of the allocator's own numbers at that moment.
  PlacementVerdict placement;
};

struct MemoryStory {
  // The moment, nanoseconds since the epoch.
  int64_t time_ns = 0;
  // Set if the story is that of an out-of-memory.
  std::optional<OutOfMemory> oom;
  std::vector<AllocatorState> allocators;
  // Largest first.
  std::vector<Holder> holders;
  // In order.
  std::vector<NamedAllocation> recent;

  // The allocator with this id; null if there is none.
  const AllocatorState* Find(AllocatorId id) const;
};

// How full the device of an allocator is; nothing where it was not looked at.
using DeviceOf =
    std::function<std::optional<DeviceNumbers>(const AllocatorInfo&)>;

// The story of the failure with this sequence, or, with 0, of the recording's
// end. Holds at most `max_recent` recent allocations.
// What an allocator has taken from its device.
uint64_t ReservedBytes(const Recording& recording, const AllocatorState& state);

MemoryStory TellStory(const Recording& recording,
                      const std::vector<const Site*>& sites,
                      std::vector<AllocatorState> allocators,
                      const DeviceOf& device_of, uint64_t failed_sequence,
                      size_t max_recent);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_MEMORY_STORY_H_
