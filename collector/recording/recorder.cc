#include "collector/recording/recorder.h"

#include <algorithm>
#include <utility>

#include "collector/recording/clock.h"
#include "collector/recording/erase_if.h"

namespace oom_forensics::collector {
Recorder::Recorder(const Settings& settings, size_t max_live_allocations) {
  static_assert(kShards == 64, "ShardOf() takes six bits of the hash");
  for (Shard& shard : shards_) {
    shard.live.set_max_entries(max_live_allocations / kShards);
  }
  Reconfigure(settings);
}

bool Recorder::Reconfigure(const Settings& settings) {
  auto ring = std::make_unique<EventRing>(settings.allocation_log_buffer_size);
  const Standstill standstill(this);
  if (next_sequence_.load(std::memory_order_relaxed) != 1) return false;
  ring_ = std::move(ring);
  capture_events_ = settings.capture_events;
  min_bytes_ = settings.min_bytes;
  kept_of_2_32_ = static_cast<uint64_t>(settings.allocation_log_sampling_rate *
                                        4294967296.0);
  return true;
}

bool Recorder::Keeps(uint64_t requested_bytes,
                     uint64_t* random) const noexcept {
  if (requested_bytes < min_bytes_.load(std::memory_order_relaxed)) {
    return false;
  }
  const uint64_t kept = kept_of_2_32_.load(std::memory_order_relaxed);
  if (kept == uint64_t{1} << 32 || requested_bytes >= kAlwaysKeptBytes) {
    return true;
  }
  // xorshift64*, good in its high bits.
  *random ^= *random >> 12;
  *random ^= *random << 25;
  *random ^= *random >> 27;
  return (*random * 0x2545f4914f6cdd1du) >> 32 < kept;
}

Event Recorder::MakeEvent(RecordedKind kind, AllocatorId allocator,
                          const void* address, uint32_t thread,
                          int64_t time_ns) noexcept {
  Event event;
  event.time_ns = time_ns == 0 ? WallClockNs() : time_ns;
  event.address = reinterpret_cast<uint64_t>(address);
  event.thread = thread;
  event.allocator = allocator;
  event.kind = kind;
  return event;
}

void Recorder::Log(Shard* shard, Event* event) noexcept {
  if (event->sequence == 0) event->sequence = TakeSequence();
  CountLogged(shard, event->sequence);
  ring_->Write(*event);
  for (CaptureLog* const log : capture_logs_) {
    if (log != nullptr) log->Write(*event);
  }
}

void Recorder::CountLogged(Shard* shard, uint64_t sequence) noexcept {
  ++shard->logged;
  if (sequence < awaited_below_.load(std::memory_order_relaxed)) {
    arrived_.fetch_add(1, std::memory_order_release);
  }
}

void Recorder::RecordAlloc(AllocatorId allocator, const void* address,
                           SiteId site, int64_t step_id, uint32_t thread,
                           EventPlace place) noexcept {
  Event event = MakeEvent(RecordedKind::kAlloc, allocator, address, thread,
                          place.time_ns);
  event.sequence = place.sequence;
  event.site = site;
  event.value = step_id;
  Shard& shard = ShardOf(event.address);
  std::lock_guard<SpinLock> lock(shard.lock);
  Log(&shard, &event);
  ++shard.totals[allocator].allocs;
  if (!shard.live.Insert(
          {event.address, event.time_ns, step_id, site, thread, allocator})) {
    ++shard.totals[allocator].unlisted;
  }
}

void Recorder::CountDropped(AllocatorId allocator, const void* address,
                            uint64_t sequence) noexcept {
  Shard& shard = ShardOf(reinterpret_cast<uint64_t>(address));
  std::lock_guard<SpinLock> lock(shard.lock);
  if (sequence != 0) CountLogged(&shard, sequence);
  ++shard.totals[allocator].allocs;
  ++shard.totals[allocator].dropped;
}

void Recorder::CountAlloc(AllocatorId allocator, const void* address) noexcept {
  Shard& shard = ShardOf(reinterpret_cast<uint64_t>(address));
  std::lock_guard<SpinLock> lock(shard.lock);
  ++shard.totals[allocator].allocs;
}

SiteId Recorder::RecordFree(AllocatorId allocator, const void* address,
                            uint32_t thread, EventPlace place) noexcept {
  Event event =
      MakeEvent(RecordedKind::kFree, allocator, address, thread, place.time_ns);
  event.sequence = place.sequence;
  Shard& shard = ShardOf(event.address);
  std::lock_guard<SpinLock> lock(shard.lock);
  return EndAllocation(&shard, &event);
}

bool Recorder::TryRecordFree(AllocatorId allocator, const void* address,
                             uint32_t thread, int64_t time_ns) noexcept {
  Event event =
      MakeEvent(RecordedKind::kFree, allocator, address, thread, time_ns);
  Shard& shard = ShardOf(event.address);
  if (!shard.lock.lock_unless(forking_)) return false;
  EndAllocation(&shard, &event);
  shard.lock.unlock();
  return true;
}

SiteId Recorder::EndAllocation(Shard* shard, Event* event) noexcept {
  ++shard->totals[event->allocator].frees;
  LiveAllocation ended;
  if (shard->live.Erase(event->address, event->allocator, &ended)) {
    event->site = ended.site;
    event->value = ended.step_id;
    const int64_t age_100us = (event->time_ns - ended.born_ns) / 100'000;
    event->age_100us =
        static_cast<uint32_t>(std::clamp<int64_t>(age_100us, 0, UINT32_MAX));
  } else if (Filters()) {
    // The end of an allocation that was not recorded.
    if (event->sequence != 0) CountLogged(shard, event->sequence);
    return 0;
  }
  Log(shard, event);
  return event->site;
}

void Recorder::RecordRegion(RecordedKind kind, AllocatorId allocator,
                            const void* address, uint64_t size_bytes,
                            uint32_t thread) noexcept {
  Event event = MakeEvent(kind, allocator, address, thread);
  event.value = static_cast<int64_t>(size_bytes);
  Shard& shard = ShardOf(0);
  std::lock_guard<SpinLock> lock(shard.lock);
  Log(&shard, &event);
  if (kind == RecordedKind::kRegionRemove) {
    EraseIf(&regions_, [&](const Region& region) {
      return region.address == event.address && region.allocator == allocator;
    });
    return;
  }
  try {
    regions_.push_back({event.address, size_bytes, allocator});
  } catch (...) {  // bad_alloc: the region is then missing from the baseline
  }
}

uint64_t Recorder::RecordFailure(AllocatorId allocator, SiteId site,
                                 int64_t step_id, uint32_t thread) noexcept {
  Event event = MakeEvent(RecordedKind::kFailed, allocator, nullptr, thread);
  event.site = site;
  event.value = step_id;
  Shard& shard = ShardOf(0);
  std::lock_guard<SpinLock> lock(shard.lock);
  Log(&shard, &event);
  return event.sequence;
}

int64_t Recorder::TrainingStep() noexcept {
  std::lock_guard<SpinLock> lock(ShardOf(0).lock);
  return training_step_;
}

void Recorder::RecordStep(int64_t step, uint32_t thread) noexcept {
  Event event = MakeEvent(RecordedKind::kStepBegin, 0, nullptr, thread);
  event.value = step;
  Shard& shard = ShardOf(0);
  std::lock_guard<SpinLock> lock(shard.lock);
  event.address = static_cast<uint64_t>(training_step_);
  training_step_ = step;
  Log(&shard, &event);
}

const AllocatorInfo* Recorder::AddAllocator(const void* address,
                                            AllocatorInfo info) {
  const uint64_t next = next_sequence_.load(std::memory_order_relaxed);
  // A recording that is not written yet may speak of any that is gone.
  const uint64_t kept_from = recordings_.use_count() > 1
                                 ? 0
                                 : next - std::min(next, ring_->capacity());
  return allocators_.Add(address, std::move(info), kept_from);
}

void Recorder::DropAllocator(AllocatorId allocator) noexcept {
  for (Shard& shard : shards_) {
    std::lock_guard<SpinLock> lock(shard.lock);
    shard.live.EraseAllOf(allocator);
    shard.totals[allocator].unlisted = 0;
  }
  {
    std::lock_guard<SpinLock> lock(ShardOf(0).lock);
    EraseIf(&regions_, [allocator](const Region& region) {
      return region.allocator == allocator;
    });
  }
  allocators_.Release(allocator,
                      next_sequence_.load(std::memory_order_relaxed));
}

uint64_t Recorder::CountUnlisted(AllocatorId allocator) {
  uint64_t count = 0;
  for (Shard& shard : shards_) {
    std::lock_guard<SpinLock> lock(shard.lock);
    count += shard.totals[allocator].unlisted;
  }
  return count;
}

std::vector<Region> Recorder::Regions() {
  std::lock_guard<SpinLock> lock(ShardOf(0).lock);
  return regions_;
}

void Recorder::Clear() {
  const Standstill standstill(this);
  for (Shard& shard : shards_) {
    shard.live.Clear();
    for (EventTotals& totals : shard.totals) totals.unlisted = 0;
  }
}

}  // namespace oom_forensics::collector
