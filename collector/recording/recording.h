// Recording: what was live at one moment, and all that happened after it. A
// profiler session yields one, and so does the flight recorder, from the last
// events that it has kept.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_RECORDING_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_RECORDING_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/recording/allocator_statistics.h"
#include "collector/recording/allocator_table.h"
#include "collector/recording/capture_log.h"
#include "collector/recording/event.h"
#include "collector/recording/live_set.h"
#include "collector/recording/site_interner.h"

namespace oom_forensics::collector {

// Exact counts, whatever the logs could hold.
struct EventTotals {
  uint64_t allocs = 0;
  uint64_t frees = 0;
  // How many of both came when the log was full.
  uint64_t dropped = 0;
  // Allocations since the allocator was made, whether or not recorded here, for
  // which the list of what is live had no room: some may be missing in it.
  uint64_t unlisted = 0;
};
using TotalsByAllocator = std::array<EventTotals, kMaxAllocators>;

// A request that the allocator could not meet; the event of this sequence says
// who asked for what.
struct Failure {
  uint64_t sequence = 0;
  // Time spent in the allocator, retries included.
  int64_t waited_ns = 0;
  // False: the caller only tried, and handles the failure.
  bool retry_on_failure = true;
  std::optional<AllocatorStatistics> statistics;
  // From the dump: all memory that the allocator holds, and its largest hole.
  uint64_t reserved_bytes = 0;
  uint64_t largest_free_bytes = 0;
  // tensorflow.MemoryDump, serialised; empty if it was not taken.
  std::string memory_dump;
};

// A request whose failure its caller does not handle: an out-of-memory, or one
// that waits for memory and may become one.
struct RefusedRequest {
  // The sequence number of its event; 0: it waits.
  uint64_t sequence = 0;
  // Time spent in the allocator, retries included.
  int64_t waited_ns = 0;
  // Who asked for what; its strings live as long as the process.
  SiteKey site;
  int64_t step_id = 0;
  // The allocator's name as reports have it.
  std::string allocator;
  // The thread that asked, as Python knows it; 0: Python does not.
  uint64_t python_thread = 0;
};

// What is live at one moment.
struct LiveState {
  // All events before this one are contained.
  uint64_t next_sequence = 0;
  int64_t time_ns = 0;
  std::vector<LiveAllocation> allocations;
  std::vector<Region> regions;
  // The training step that is under way.
  int64_t training_step = kNoStep;
};

// Takes a state back to the moment before the events that led to it. What an
// allocation was that ended in between, its kFree event tells, all but its
// thread.
class Rewinder {
 public:
  explicit Rewinder(LiveState* state) : state_(state) {}

  // To be called for each event, the last one first.
  void Undo(const Event& event);
  // To be called then. Of what is live, however much it is, no copy is made.
  void Finish();

 private:
  void Remember(const LiveAllocation& allocation);

  LiveState* const state_;
  // What was at each place that the events speak of; site 0: nothing.
  LiveSet before_;
};

struct Recording {
  LiveState baseline;
  int64_t stop_ns = 0;
  TotalsByAllocator totals = {};
  std::vector<Failure> failures;
  // While it lives, no slot of an allocator that is gone is taken again.
  std::shared_ptr<const void> keeps_allocators;
  // The events: of a session in the log, of the flight recorder in the vector.
  std::unique_ptr<CaptureLog> log;
  std::vector<Event> events;

  // Calls visit(const Event&) for all events in order.
  template <typename Visit>
  void ForEachEvent(Visit visit) const {
    if (log != nullptr) log->ForEach(visit);
    for (const Event& event : events) visit(event);
  }
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_RECORDING_H_
