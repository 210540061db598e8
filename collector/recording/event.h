// What the recorder keeps of one event and of one live allocation. Both are
// plain, fixed-size records: what repeats from step to step (op, shape, sizes)
// is said once, in the SiteInterner, and referred to by its id.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_H_

#include <cstdint>

namespace oom_forensics::collector {

enum class RecordedKind : uint8_t {
  kAlloc = 1,
  kFree = 2,
  kFailed = 3,
  kRegionAdd = 4,
  kRegionRemove = 5,
  // A training step began, or, with kNoStep, the last one is over. Belongs to
  // no allocator; its allocator is 0.
  kStepBegin = 6,
};

// No training step is known.
inline constexpr int64_t kNoStep = -1;

// Index of an allocator in the AllocatorTable.
using AllocatorId = uint16_t;

// Id of a site in the SiteInterner; 0: none.
using SiteId = uint32_t;

// Id of a Python stack in the StackTable; 0: none.
using StackId = uint32_t;

struct Event {
  // Position in the order of all events of this process, from 1; 0: no event.
  uint64_t sequence = 0;
  // CLOCK_REALTIME, nanoseconds since the epoch.
  int64_t time_ns = 0;
  // kStepBegin: the number of the step before, as two's complement.
  uint64_t address = 0;
  // kAlloc and kFailed: TensorFlow's step id. kFree: that of the allocation
  // that ends. Regions: their size in bytes. kStepBegin: the step's number.
  int64_t value = 0;
  // kFree: the site of the allocation that ends, if it was known.
  SiteId site = 0;
  // The thread's id in the operating system.
  uint32_t thread = 0;
  AllocatorId allocator = 0;
  RecordedKind kind = RecordedKind::kAlloc;
  // kFree: how long the allocation lived. Saturates after five days.
  uint32_t age_100us = 0;
};
static_assert(sizeof(Event) == 48);

struct LiveAllocation {
  // 0: no allocation.
  uint64_t address = 0;
  int64_t born_ns = 0;
  int64_t step_id = 0;
  SiteId site = 0;
  uint32_t thread = 0;
  AllocatorId allocator = 0;
};
static_assert(sizeof(LiveAllocation) == 40);

// Where an event stands among all, if that was told before it was recorded.
struct EventPlace {
  // Of Recorder::TakeSequence(); 0: where it is recorded.
  uint64_t sequence = 0;
  // 0: when it is recorded.
  int64_t time_ns = 0;
};

// A piece of memory that an allocator got from the system to divide.
struct Region {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  AllocatorId allocator = 0;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_EVENT_H_
