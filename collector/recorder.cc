#include "collector/recorder.h"

#include <algorithm>
#include <utility>

#include "collector/clock.h"

namespace oom_forensics::collector {

class Recorder::Standstill {
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

Recorder::Recorder(const Settings& settings)
    : ring_(settings.allocation_log_buffer_size),
      capture_events_(settings.capture_events) {
  static_assert(kShards == 64, "ShardOf() takes six bits of the hash");
  for (Shard& shard : shards_) {
    shard.live.set_max_entries(kMaxLiveAllocations / kShards);
  }
}

void Recorder::Log(Shard& shard, Event* event) noexcept {
  event->sequence = next_sequence_.fetch_add(1, std::memory_order_relaxed);
  event->time_ns = WallClockNs();
  ring_.Write(*event);
  if (capture_log_ != nullptr && !capture_log_->Write(*event)) {
    ++shard.totals[event->allocator].dropped;
  }
}

void Recorder::RecordAlloc(AllocatorId allocator, const void* address,
                           SiteId site, int64_t step_id,
                           uint32_t thread) noexcept {
  Event event;
  event.kind = EventKind::kAlloc;
  event.allocator = allocator;
  event.address = reinterpret_cast<uint64_t>(address);
  event.site = site;
  event.value = step_id;
  event.thread = thread;
  Shard& shard = ShardOf(event.address);
  std::lock_guard<SpinLock> lock(shard.lock);
  Log(shard, &event);
  ++shard.totals[allocator].allocs;
  shard.live.Insert(
      {event.address, event.time_ns, step_id, site, thread, allocator});
}

void Recorder::RecordFree(AllocatorId allocator, const void* address,
                          uint32_t thread) noexcept {
  Event event;
  event.kind = EventKind::kFree;
  event.allocator = allocator;
  event.address = reinterpret_cast<uint64_t>(address);
  event.thread = thread;
  Shard& shard = ShardOf(event.address);
  std::lock_guard<SpinLock> lock(shard.lock);
  Log(shard, &event);
  ++shard.totals[allocator].frees;
  shard.live.Erase(event.address, allocator, nullptr);
}

void Recorder::RecordRegion(EventKind kind, AllocatorId allocator,
                            const void* address, uint64_t size_bytes,
                            uint32_t thread) noexcept {
  Event event;
  event.kind = kind;
  event.allocator = allocator;
  event.address = reinterpret_cast<uint64_t>(address);
  event.value = static_cast<int64_t>(size_bytes);
  event.thread = thread;
  Shard& shard = ShardOf(0);
  std::lock_guard<SpinLock> lock(shard.lock);
  Log(shard, &event);
  if (kind == EventKind::kRegionRemove) {
    regions_.erase(std::remove_if(regions_.begin(), regions_.end(),
                                  [&](const Region& region) {
                                    return region.address == event.address &&
                                           region.allocator == allocator;
                                  }),
                   regions_.end());
    return;
  }
  try {
    regions_.push_back({event.address, size_bytes, allocator});
  } catch (...) {  // bad_alloc: the region is then missing from the baseline
  }
}

uint64_t Recorder::RecordFailure(AllocatorId allocator, SiteId site,
                                 int64_t step_id, uint32_t thread) noexcept {
  Event event;
  event.kind = EventKind::kFailed;
  event.allocator = allocator;
  event.site = site;
  event.value = step_id;
  event.thread = thread;
  Shard& shard = ShardOf(0);
  std::lock_guard<SpinLock> lock(shard.lock);
  Log(shard, &event);
  return event.sequence;
}

void Recorder::AddFailure(Failure failure) {
  std::lock_guard<std::mutex> lock(failures_mutex_);
  size_t dump_bytes = failure.memory_dump.size();
  for (const Failure& known : failures_) dump_bytes += known.memory_dump.size();
  // A job that searches for its batch size fails many times: the first dumps
  // are kept, and the facts of the last failures.
  if (dump_bytes > kMaxDumpBytes) failure.memory_dump.clear();
  if (failures_.size() == kMaxFailures) failures_.erase(failures_.begin());
  failures_.push_back(std::move(failure));
}

void Recorder::DropAllocator(AllocatorId allocator) {
  for (Shard& shard : shards_) {
    std::lock_guard<SpinLock> lock(shard.lock);
    std::vector<uint64_t> addresses;
    shard.live.ForEach([&](const LiveAllocation& allocation) {
      if (allocation.allocator == allocator) {
        addresses.push_back(allocation.address);
      }
    });
    for (const uint64_t address : addresses) {
      shard.live.Erase(address, allocator, nullptr);
    }
  }
}

LiveState Recorder::CopyLiveState(size_t expected_allocations) {
  LiveState state;
  state.allocations.reserve(expected_allocations);
  state.next_sequence = next_sequence_.load(std::memory_order_relaxed);
  state.time_ns = WallClockNs();
  for (const Shard& shard : shards_) {
    shard.live.ForEach([&](const LiveAllocation& allocation) {
      state.allocations.push_back(allocation);
    });
  }
  state.regions = regions_;
  return state;
}

void Recorder::StartCapture() {
  StopCapture();
  std::lock_guard<std::mutex> lock(capture_mutex_);
  auto capture = std::make_unique<Capture>();
  {
    std::lock_guard<std::mutex> failures_lock(failures_mutex_);
    failures_.clear();
  }
  {
    const Standstill standstill(this);
    size_t live = 0;
    for (const Shard& shard : shards_) live += shard.live.size();
    capture->baseline = CopyLiveState(live);
    capture->log = std::make_unique<CaptureLog>(capture->baseline.next_sequence,
                                                capture_events_);
    for (Shard& shard : shards_) {
      for (size_t i = 0; i < kMaxAllocators; ++i) {
        shard.totals[i].dropped = 0;
        capture->totals[i].allocs -= shard.totals[i].allocs;
        capture->totals[i].frees -= shard.totals[i].frees;
      }
    }
    capture_log_ = capture->log.get();
  }
  capture_ = std::move(capture);
}

std::unique_ptr<Capture> Recorder::StopCapture() {
  std::lock_guard<std::mutex> lock(capture_mutex_);
  if (capture_ == nullptr) return nullptr;
  {
    const Standstill standstill(this);
    capture_log_ = nullptr;
    capture_->stop_ns = WallClockNs();
    for (const Shard& shard : shards_) {
      for (size_t i = 0; i < kMaxAllocators; ++i) {
        capture_->totals[i].allocs += shard.totals[i].allocs;
        capture_->totals[i].frees += shard.totals[i].frees;
        capture_->totals[i].dropped += shard.totals[i].dropped;
      }
    }
  }
  {
    std::lock_guard<std::mutex> failures_lock(failures_mutex_);
    capture_->failures = failures_;
  }
  return std::move(capture_);
}

void Recorder::BeforeFork() {
  capture_mutex_.lock();
  failures_mutex_.lock();
  allocators_.mutex().lock();
  sites_.mutex().lock();
  for (Shard& shard : shards_) shard.lock.lock();
}

void Recorder::AfterForkInParent() {
  for (Shard& shard : shards_) shard.lock.unlock();
  sites_.mutex().unlock();
  allocators_.mutex().unlock();
  failures_mutex_.unlock();
  capture_mutex_.unlock();
}

void Recorder::AfterForkInChild() {
  capture_log_ = nullptr;
  capture_.reset();
  AfterForkInParent();
}

}  // namespace oom_forensics::collector
