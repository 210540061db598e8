#include "collector/flight_recorder/memory_story.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/bfc.h"

namespace oom_forensics::collector {
namespace {

SiteKey KeyOf(const std::vector<const Site*>& sites, SiteId id) {
  return id == 0 || id > sites.size() ? SiteKey() : sites[id - 1]->key;
}

// The live set right before the event `failed_sequence`, or at the end.
std::vector<LiveAllocation> LiveAt(const Recording& recording,
                                   uint64_t failed_sequence) {
  std::map<std::pair<uint64_t, AllocatorId>, LiveAllocation> live;
  for (const LiveAllocation& allocation : recording.baseline.allocations) {
    live[{allocation.address, allocation.allocator}] = allocation;
  }
  recording.ForEachEvent([&](const Event& event) {
    if (failed_sequence != 0 && event.sequence >= failed_sequence) return;
    const std::pair place(event.address, event.allocator);
    if (event.kind == RecordedKind::kAlloc) {
      live[place] = {event.address, event.time_ns, event.value,
                     event.site,    event.thread,  event.allocator};
    } else if (event.kind == RecordedKind::kFree) {
      live.erase(place);
    }
  });
  std::vector<LiveAllocation> allocations;
  allocations.reserve(live.size());
  for (const auto& [place, allocation] : live) {
    allocations.push_back(allocation);
  }
  return allocations;
}

std::vector<Holder> HoldersOf(const std::vector<LiveAllocation>& live,
                              const std::vector<const Site*>& sites) {
  using Key = std::tuple<AllocatorId, std::string_view, std::string_view,
                         std::string_view, int32_t, ExecutionMode,
                         std::string_view, std::string_view>;
  std::map<Key, Holder> holders;
  for (const LiveAllocation& allocation : live) {
    const SiteKey site = KeyOf(sites, allocation.site);
    Holder& holder = holders[Key(
        allocation.allocator, site.op, site.shape, site.region_type, site.dtype,
        site.mode, site.compiled.module, site.compiled.buffer_kind)];
    holder.allocator = allocation.allocator;
    holder.site = site;
    ++holder.count;
    holder.requested_bytes += site.requested_bytes;
    holder.allocated_bytes += site.allocated_bytes;
  }
  std::vector<Holder> sorted;
  for (auto& [key, holder] : holders) sorted.push_back(holder);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Holder& a, const Holder& b) {
                     return a.allocated_bytes > b.allocated_bytes;
                   });
  return sorted;
}

// Makes *step the training step that is under way after `event`.
void FollowStep(const Event& event, int64_t* step) {
  if (event.kind == RecordedKind::kStepBegin) *step = event.value;
}

// The regions of an allocator right before the event `failed_sequence`:
// address and bytes of each.
std::vector<std::pair<uint64_t, uint64_t>> RegionsAt(const Recording& recording,
                                                     AllocatorId allocator,
                                                     uint64_t failed_sequence) {
  std::map<uint64_t, uint64_t> regions;
  for (const Region& region : recording.baseline.regions) {
    if (region.allocator == allocator) {
      regions[region.address] = region.size_bytes;
    }
  }
  recording.ForEachEvent([&](const Event& event) {
    if (event.sequence >= failed_sequence || event.allocator != allocator) {
      return;
    }
    if (event.kind == RecordedKind::kRegionAdd) {
      regions[event.address] = static_cast<uint64_t>(event.value);
    } else if (event.kind == RecordedKind::kRegionRemove) {
      regions.erase(event.address);
    }
  });
  return {regions.begin(), regions.end()};
}

uint64_t SumOfRegions(const Recording& recording, AllocatorId allocator,
                      uint64_t failed_sequence) {
  uint64_t bytes = 0;
  for (const auto& [address, size_bytes] :
       RegionsAt(recording, allocator, failed_sequence)) {
    bytes += size_bytes;
  }
  return bytes;
}

// What the other pools on the same device hold.
uint64_t SiblingBytes(const Recording& recording,
                      const std::vector<AllocatorState>& allocators,
                      const AllocatorInfo& info, uint64_t failed_sequence) {
  uint64_t bytes = 0;
  for (const AllocatorState& other : allocators) {
    if (info.cuda_device < 0 || other.info.id == info.id ||
        other.info.cuda_device != info.cuda_device) {
      continue;
    }
    bytes += SumOfRegions(recording, other.info.id, failed_sequence);
  }
  return bytes;
}

PoolNumbers NumbersOf(const Recording& recording, const OutOfMemory& oom,
                      const AllocatorInfo& info,
                      const std::optional<DeviceNumbers>& device) {
  const Failure& failure = oom.failure;
  PoolNumbers pool;
  pool.has_layout = info.has_layout;
  pool.request_bytes = info.has_layout ? RoundedBytes(oom.site.requested_bytes)
                                       : oom.site.requested_bytes;
  pool.limit_bytes = info.limit_bytes;
  if (failure.statistics.has_value()) {
    if (failure.statistics->limit_bytes != 0) {
      pool.limit_bytes = failure.statistics->limit_bytes;
    }
    pool.reserved_bytes = failure.statistics->bytes_in_use;
  }
  // The collector writes it into the trace, where the converter finds it.
  if (const auto variable = LimitVariableOf(info.name)) {
    const std::string name(variable->name);
    const char* const value = std::getenv(name.c_str());
    if (value != nullptr) pool.LimitBy(info.name, {name + "=" + value});
  }
  pool.device = device;
  if (!info.has_layout || failure.memory_dump.empty()) return pool;
  FreeSpaceCounter counter(
      RegionsAt(recording, oom.event.allocator, oom.event.sequence));
  uint64_t reserved_bytes = 0;
  const bool complete =
      ForEachChunk(failure.memory_dump, [&](const MemoryDumpChunk& chunk) {
        reserved_bytes += chunk.size_bytes;
        if (!chunk.in_use)
          counter.AddFreeChunk(chunk.address, chunk.size_bytes);
      });
  if (!complete) return pool;
  pool.reserved_bytes = reserved_bytes;
  pool.free = counter.Total();
  return pool;
}

OutOfMemory TellOutOfMemory(const Recording& recording,
                            const std::vector<const Site*>& sites,
                            uint64_t failed_sequence) {
  OutOfMemory oom;
  oom.training_step = recording.baseline.training_step;
  recording.ForEachEvent([&](const Event& event) {
    if (event.sequence == failed_sequence) oom.event = event;
    if (event.sequence < failed_sequence) {
      FollowStep(event, &oom.training_step);
    }
  });
  for (const Failure& failure : recording.failures) {
    if (failure.sequence == failed_sequence) oom.failure = failure;
  }
  oom.site = KeyOf(sites, oom.event.site);
  oom.unlisted_allocations = recording.totals[oom.event.allocator].unlisted;
  return oom;
}

}  // namespace

const AllocatorState* MemoryStory::Find(AllocatorId id) const {
  for (const AllocatorState& state : allocators) {
    if (state.has_events && state.info.id == id) return &state;
  }
  return nullptr;
}

uint64_t ReservedBytes(const Recording& recording,
                       const AllocatorState& state) {
  if (state.info.has_layout) {
    return SumOfRegions(recording, state.info.id, UINT64_MAX);
  }
  return state.statistics.has_value() ? state.statistics->bytes_in_use : 0;
}

MemoryStory TellStory(const Recording& recording,
                      const std::vector<const Site*>& sites,
                      std::vector<AllocatorState> allocators,
                      const DeviceOf& device_of, uint64_t failed_sequence,
                      size_t max_recent) {
  MemoryStory story;
  story.time_ns = recording.stop_ns;
  story.allocators = std::move(allocators);
  if (failed_sequence != 0) {
    story.oom = TellOutOfMemory(recording, sites, failed_sequence);
    OutOfMemory& oom = *story.oom;
    story.time_ns = oom.event.time_ns;
    const AllocatorState* failed = story.Find(oom.event.allocator);
    const AllocatorInfo info =
        failed == nullptr ? AllocatorInfo() : failed->info;
    std::optional<DeviceNumbers> device = device_of(info);
    if (device.has_value()) {
      device->sibling_bytes =
          SiblingBytes(recording, story.allocators, info, failed_sequence);
    }
    oom.placement = JudgePlacement(NumbersOf(recording, oom, info, device));
    // What the allocator said right after the failure; it may have gone on.
    for (AllocatorState& state : story.allocators) {
      if (&state != failed) continue;
      state.statistics = oom.failure.statistics;
      if (!state.info.has_layout) continue;
      state.map = SummarizeMemoryDump(oom.failure.memory_dump);
    }
  }
  story.holders = HoldersOf(LiveAt(recording, failed_sequence), sites);
  int64_t step = recording.baseline.training_step;
  recording.ForEachEvent([&](const Event& event) {
    FollowStep(event, &step);
    if (event.kind != RecordedKind::kAlloc) return;
    if (failed_sequence != 0 && event.sequence > failed_sequence) return;
    story.recent.push_back({event, KeyOf(sites, event.site), step});
  });
  if (story.recent.size() > max_recent) {
    story.recent.erase(
        story.recent.begin(),
        story.recent.end() - static_cast<std::ptrdiff_t>(max_recent));
  }
  return story;
}

}  // namespace oom_forensics::collector
