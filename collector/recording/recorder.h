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
// But an allocation of a pool takes its sequence number while the pool serves
// it, and is recorded a little later (tensorflow/serving_hooks.h). One that is
// under way at a session's beginning belongs to its baseline and is added to it
// afterwards; its end waits a little for those under way.
//
// Order of locks: allocators (TensorFlow's own) before shards; nothing is
// called that locks an allocator while a shard is locked.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_RECORDER_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_RECORDER_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collector/recording/allocator_table.h"
#include "collector/recording/cache_line.h"
#include "collector/recording/capture_log.h"
#include "collector/recording/event.h"
#include "collector/recording/event_ring.h"
#include "collector/recording/failure_log.h"
#include "collector/recording/live_set.h"
#include "collector/recording/recording.h"
#include "collector/recording/site_interner.h"
#include "collector/recording/spin_lock.h"
#include "collector/recording/stack_table.h"
#include "collector/settings.h"

namespace oom_forensics::collector {

// Who has all events kept for a while. Each has one recording at a time, and
// knows nothing of the other's.
enum class CaptureOwner : uint8_t { kProfiler, kPython };
inline constexpr size_t kCaptureOwners = 2;

class Recorder {
 public:
  // Lists at most so many live allocations, divided among the shards.
  static constexpr size_t kMaxLiveAllocations = size_t{1} << 22;

  explicit Recorder(const Settings& settings,
                    size_t max_live_allocations = kMaxLiveAllocations);

  // Whether an allocation of so many bytes is to be recorded, as sampling and
  // min_bytes say. `random` is the calling thread's own state of chance. What
  // is not recorded is counted by CountAlloc().
  bool Keeps(uint64_t requested_bytes, uint64_t* random) const noexcept;

  // The hooks' part. None of these blocks for long or throws.
  void CountAlloc(AllocatorId allocator, const void* address) noexcept;
  void RecordAlloc(AllocatorId allocator, const void* address, SiteId site,
                   int64_t step_id, uint32_t thread,
                   EventPlace place = {}) noexcept;
  // Returns the site of the allocation that ended; 0: it was not recorded.
  SiteId RecordFree(AllocatorId allocator, const void* address, uint32_t thread,
                    EventPlace place = {}) noexcept;
  // The same at the moment of it, with the allocator's lock held. False, and
  // not recorded, while the process forks: the lock must not be held over that
  // for the sake of the recorder, as nobody would open it in the child.
  bool TryRecordFree(AllocatorId allocator, const void* address,
                     uint32_t thread, int64_t time_ns) noexcept;
  // The place of an event that will be recorded.
  uint64_t TakeSequence() noexcept {
    return next_sequence_.fetch_add(1, std::memory_order_relaxed);
  }
  void RecordRegion(RecordedKind kind, AllocatorId allocator,
                    const void* address, uint64_t size_bytes,
                    uint32_t thread) noexcept;
  // Returns the event's sequence, for a Failure.
  uint64_t RecordFailure(AllocatorId allocator, SiteId site, int64_t step_id,
                         uint32_t thread) noexcept;

  // An allocation of which not even the size could be kept.
  // `sequence`: of EventPlace.
  void CountDropped(AllocatorId allocator, const void* address,
                    uint64_t sequence = 0) noexcept;

  // A training step begins; kNoStep: the last one is over.
  void RecordStep(int64_t step, uint32_t thread) noexcept;
  // The one that is under way.
  int64_t TrainingStep() noexcept;

  // Adds an allocator, as AllocatorTable::Add.
  const AllocatorInfo* AddAllocator(const void* address, AllocatorInfo info);

  // Drops what is live in an allocator that has come to its end and was
  // forgotten.
  void DropAllocator(AllocatorId allocator) noexcept;

  // Begins to keep all events. False: one of this owner's runs already.
  bool StartCapture(CaptureOwner owner);
  // Null if none runs.
  std::unique_ptr<Recording> StopCapture(CaptureOwner owner);

  // The last events and what was live before them.
  std::unique_ptr<Recording> Recent();

  // How many of its allocations the list of what is live had no room for.
  uint64_t CountUnlisted(AllocatorId allocator);

  // The memory regions of all allocators, as they are now.
  std::vector<Region> Regions();

  // Takes over what `settings` say of recording. False if events were recorded
  // already: what they mean must not change under them.
  bool Reconfigure(const Settings& settings);

  // Forgets what is live, because from now on its end would not be seen.
  void Clear();

  AllocatorTable& allocators() { return allocators_; }
  SiteInterner& sites() { return sites_; }
  StackTable& stacks() { return stacks_; }
  FailureLog& failures() { return failures_; }

  // fork(): everything is locked before it and unlocked on both sides; a
  // recording goes on in the parent only.
  void BeforeFork();
  void AfterForkInParent();
  void AfterForkInChild();

 private:
  static constexpr size_t kShards = 64;

  // What an event changes of it lies in two cache lines: it may be another
  // core that had them last.
  struct alignas(kCacheLineBytes) Shard {
    SpinLock lock;
    // Events so far.
    uint64_t logged = 0;
    LiveSet live;
    alignas(kCacheLineBytes) TotalsByAllocator totals = {};
  };
  // Holds every shard's lock.
  class Standstill {
   public:
    explicit Standstill(Recorder* recorder) : recorder_(recorder) {
      for (Shard& shard : recorder_->shards_) shard.lock.lock();
    }
    ~Standstill() {
      for (Shard& shard : recorder_->shards_) shard.lock.unlock();
    }
    Standstill(const Standstill&) = delete;
    Standstill& operator=(const Standstill&) = delete;

   private:
    Recorder* recorder_;
  };
  // Calls at_end(sequence) while everything stands still; then lets the
  // allocations below that sequence that are under way be recorded, for a
  // moment. With capture_mutex_ held.
  template <typename AtEnd>
  void ReachEnd(AtEnd at_end);

  Shard& ShardOf(uint64_t address) {
    return shards_[HashAddress(address) >> 58];
  }
  // Whether some allocations are not recorded.
  bool Filters() const noexcept {
    return min_bytes_.load(std::memory_order_relaxed) != 0 ||
           kept_of_2_32_.load(std::memory_order_relaxed) != uint64_t{1} << 32;
  }
  // All that is kept and was counted so far; everything stands still.
  TotalsByAllocator SumTotals() const;
  size_t CountLive() const;
  static Event MakeEvent(RecordedKind kind, AllocatorId allocator,
                         const void* address, uint32_t thread,
                         int64_t time_ns = 0) noexcept;
  // Records an event of kFree. The shard of its address is locked.
  SiteId EndAllocation(Shard* shard, Event* event) noexcept;
  // Gives `event` its sequence, unless it has one, and logs it. The shard of
  // its address is locked.
  void Log(Shard* shard, Event* event) noexcept;
  // One sequence that was taken is no longer under way.
  void CountLogged(Shard* shard, uint64_t sequence) noexcept;
  uint64_t CountLogged() const;
  LiveState CopyLiveState() const;

  AllocatorTable allocators_;
  SiteInterner sites_;
  StackTable stacks_;
  std::array<Shard, kShards> shards_;
  // Guarded by the lock of the shard of address 0.
  std::vector<Region> regions_;
  int64_t training_step_ = kNoStep;
  // The one cache line that every event of every thread writes: it tells their
  // order (docs/benchmarks.md has what that costs). Alone in it.
  alignas(kCacheLineBytes) std::atomic<uint64_t> next_sequence_{1};
  // From here on what every event reads and hardly anything writes.
  //
  // By owner. Changed only while all shards are locked.
  alignas(kCacheLineBytes)
      std::array<CaptureLog*, kCaptureOwners> capture_logs_ = {};
  // Events below this sequence are waited for; 0: none is.
  std::atomic<uint64_t> awaited_below_{0};
  // Read without a lock; changed only before the first event.
  std::atomic<uint64_t> min_bytes_{0};
  // How many of 2^32 small allocations are kept.
  std::atomic<uint64_t> kept_of_2_32_{uint64_t{1} << 32};
  std::unique_ptr<EventRing> ring_;

  // How many of the awaited events have come.
  alignas(kCacheLineBytes) std::atomic<uint64_t> arrived_{0};
  // Every recording that is made or in hand has a share of it.
  const std::shared_ptr<const void> recordings_ = std::make_shared<const int>();
  // Some thread is at it.
  std::atomic<bool> forking_{false};
  std::mutex capture_mutex_;
  std::array<std::unique_ptr<Recording>, kCaptureOwners> captures_;
  FailureLog failures_;
  uint64_t capture_events_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_RECORDER_H_
