// Recorder: what happened in the allocators, and what is live in them. The one
// piece of mutable state of the collector.
//
//   hook ──▶ shard (by address) ──▶ live set of the shard
//              │ sequence number
//              ├──▶ EventRing     always: the last events
//              └──▶ CaptureLog    while a profiler session runs: all events
//
// An event is recorded under the lock of the shard of its address, and takes
// its sequence number there. Whoever holds all shards' locks therefore sees a
// consistent cut: every event below the next sequence number is in the logs and
// in the live sets, none above it. That is how a baseline is taken, how a
// session ends and how fork() finds everything whole. The locks are held for a
// copy of the live set, a few milliseconds per 100,000 allocations.
//
// Order of locks: allocators (TensorFlow's own) before shards; nothing is
// called that locks an allocator while a shard is locked.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDER_H_
#define OOM_FORENSICS_COLLECTOR_RECORDER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collector/allocator_statistics.h"
#include "collector/allocator_table.h"
#include "collector/capture_log.h"
#include "collector/event.h"
#include "collector/event_ring.h"
#include "collector/live_set.h"
#include "collector/settings.h"
#include "collector/site_table.h"
#include "collector/spin_lock.h"

namespace oom_forensics::collector {

// Exact counts, whatever the logs could hold.
struct EventTotals {
  uint64_t allocs = 0;
  uint64_t frees = 0;
  // Of both, those that are missing from the capture.
  uint64_t dropped = 0;
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

// What is live at one moment.
struct LiveState {
  // All events before this one are contained.
  uint64_t next_sequence = 0;
  int64_t time_ns = 0;
  std::vector<LiveAllocation> allocations;
  std::vector<Region> regions;
};

// One recording, from StartCapture() to StopCapture().
struct Capture {
  LiveState baseline;
  int64_t stop_ns = 0;
  TotalsByAllocator totals = {};
  std::unique_ptr<CaptureLog> log;
  std::vector<Failure> failures;
};

class Recorder {
 public:
  explicit Recorder(const Settings& settings);

  // The hooks' part. None of these blocks for long or throws.
  void RecordAlloc(AllocatorId allocator, const void* address, SiteId site,
                   int64_t step_id, uint32_t thread) noexcept;
  void RecordFree(AllocatorId allocator, const void* address,
                  uint32_t thread) noexcept;
  void RecordRegion(EventKind kind, AllocatorId allocator, const void* address,
                    uint64_t size_bytes, uint32_t thread) noexcept;
  // Returns the event's sequence, for AddFailure().
  uint64_t RecordFailure(AllocatorId allocator, SiteId site, int64_t step_id,
                         uint32_t thread) noexcept;

  void AddFailure(Failure failure);

  // Drops what is live in an allocator that has come to its end.
  void DropAllocator(AllocatorId allocator);

  // Begins to keep all events; a recording that runs already is given up.
  void StartCapture();
  // Null if none runs.
  std::unique_ptr<Capture> StopCapture();

  AllocatorTable& allocators() { return allocators_; }
  SiteTable& sites() { return sites_; }

  // fork(): everything is locked before it and unlocked on both sides; a
  // recording goes on in the parent only.
  void BeforeFork();
  void AfterForkInParent();
  void AfterForkInChild();

 private:
  static constexpr size_t kShards = 64;
  static constexpr size_t kMaxLiveAllocations = size_t{1} << 22;
  static constexpr size_t kMaxFailures = 64;
  static constexpr size_t kMaxDumpBytes = size_t{64} << 20;

  struct alignas(64) Shard {
    SpinLock lock;
    LiveSet live;
    TotalsByAllocator totals = {};
  };
  // Holds every shard's lock.
  class Standstill;

  Shard& ShardOf(uint64_t address) {
    return shards_[HashAddress(address) >> 58];
  }
  // Gives `event` its sequence and time and logs it. The shard is locked.
  void Log(Shard& shard, Event* event) noexcept;
  LiveState CopyLiveState(size_t expected_allocations);

  AllocatorTable allocators_;
  SiteTable sites_;
  EventRing ring_;
  std::array<Shard, kShards> shards_;
  // Guarded by the lock of the shard of address 0.
  std::vector<Region> regions_;
  alignas(64) std::atomic<uint64_t> next_sequence_{1};
  // Changed only while all shards are locked.
  CaptureLog* capture_log_ = nullptr;

  std::mutex capture_mutex_;
  std::unique_ptr<Capture> capture_;
  std::mutex failures_mutex_;
  std::vector<Failure> failures_;
  const uint64_t capture_events_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDER_H_
