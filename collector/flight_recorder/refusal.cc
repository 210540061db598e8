#include "collector/flight_recorder/refusal.h"

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

// What lies in an allocator right before the event `sequence`.
std::vector<Holder> HoldersBefore(const Recording& recording,
                                  const std::vector<const Site*>& sites,
                                  AllocatorId allocator, uint64_t sequence) {
  std::unordered_map<uint64_t, SiteId> live;
  for (const LiveAllocation& allocation : recording.baseline.allocations) {
    if (allocation.allocator == allocator) {
      live[allocation.address] = allocation.site;
    }
  }
  recording.ForEachEvent([&](const Event& event) {
    if (event.sequence >= sequence || event.allocator != allocator) return;
    if (event.kind == RecordedKind::kAlloc) {
      live[event.address] = event.site;
    } else if (event.kind == RecordedKind::kFree) {
      live.erase(event.address);
    }
  });
  using Key =
      std::tuple<std::string_view, std::string_view, std::string_view, int32_t,
                 ExecutionMode, std::string_view, std::string_view>;
  std::map<Key, Holder> holders;
  for (const auto& [address, id] : live) {
    const SiteKey site = KeyOf(sites, id);
    Holder& holder = holders[Key(site.op, site.shape, site.region_type,
                                 site.dtype, site.mode, site.compiled.module,
                                 site.compiled.buffer_kind)];
    holder.site = site;
    ++holder.count;
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

uint64_t SumOfRegions(const RegionsByPool& regions, AllocatorId allocator) {
  const auto pool = regions.find(allocator);
  if (pool == regions.end()) return 0;
  uint64_t bytes = 0;
  for (const auto& [address, size_bytes] : pool->second) bytes += size_bytes;
  return bytes;
}

// What the other pools on the same device hold.
uint64_t SiblingBytes(const RegionsByPool& regions,
                      const std::vector<AllocatorState>& allocators,
                      const AllocatorInfo& info) {
  uint64_t bytes = 0;
  for (const AllocatorState& other : allocators) {
    if (info.cuda_device < 0 || other.info.id == info.id ||
        other.info.cuda_device != info.cuda_device) {
      continue;
    }
    bytes += SumOfRegions(regions, other.info.id);
  }
  return bytes;
}

PoolNumbers NumbersOf(const RegionsByPool& regions, const Refusal& refusal,
                      const AllocatorInfo& info,
                      const std::optional<DeviceNumbers>& device) {
  const Failure& failure = refusal.failure;
  PoolNumbers pool;
  pool.has_layout = info.has_layout;
  pool.request_bytes = info.has_layout
                           ? RoundedBytes(refusal.site.requested_bytes)
                           : refusal.site.requested_bytes;
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
  std::vector<std::pair<uint64_t, uint64_t>> of_pool;
  if (const auto found = regions.find(info.id); found != regions.end()) {
    of_pool.assign(found->second.begin(), found->second.end());
  }
  FreeSpaceCounter counter(std::move(of_pool));
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

}  // namespace

RegionsByPool RegionsBefore(const Recording& recording, uint64_t sequence) {
  RegionsByPool regions;
  for (const Region& region : recording.baseline.regions) {
    regions[region.allocator][region.address] = region.size_bytes;
  }
  recording.ForEachEvent([&](const Event& event) {
    if (event.sequence >= sequence) return;
    if (event.kind == RecordedKind::kRegionAdd) {
      regions[event.allocator][event.address] =
          static_cast<uint64_t>(event.value);
    } else if (event.kind == RecordedKind::kRegionRemove) {
      regions[event.allocator].erase(event.address);
    }
  });
  return regions;
}

uint64_t ReservedBytes(const RegionsByPool& regions,
                       const AllocatorState& state) {
  if (state.info.has_layout) return SumOfRegions(regions, state.info.id);
  return state.statistics.has_value() ? state.statistics->bytes_in_use : 0;
}

Refusal FindRefusal(const Recording& recording,
                    const std::vector<const Site*>& sites,
                    const std::vector<AllocatorState>& allocators,
                    const DeviceOf& device_of, uint64_t sequence) {
  Refusal refusal;
  refusal.training_step = recording.baseline.training_step;
  AllocatorInfo info;
  recording.ForEachEvent([&](const Event& event) {
    if (event.sequence < sequence && event.kind == RecordedKind::kStepBegin) {
      refusal.training_step = event.value;
    }
    if (event.sequence != sequence) return;
    refusal.time_ns = event.time_ns;
    info.id = event.allocator;
    refusal.site = KeyOf(sites, event.site);
  });
  for (const AllocatorState& state : allocators) {
    if (!state.has_events || state.info.id != info.id) continue;
    info = state.info;
    refusal.allocator = FullName(info);
    break;
  }
  for (const Failure& failure : recording.failures) {
    if (failure.sequence == sequence) refusal.failure = failure;
  }
  refusal.unlisted_allocations = recording.totals[info.id].unlisted;
  refusal.holders = HoldersBefore(recording, sites, info.id, sequence);
  const RegionsByPool regions = RegionsBefore(recording, sequence);
  std::optional<DeviceNumbers> device = device_of(info);
  if (device.has_value()) {
    device->sibling_bytes = SiblingBytes(regions, allocators, info);
  }
  refusal.placement = JudgePlacement(NumbersOf(regions, refusal, info, device));
  return refusal;
}

}  // namespace oom_forensics::collector
