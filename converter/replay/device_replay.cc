#include "converter/replay/device_replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "converter/cancellation/cancellation.h"
#include "converter/text/text.h"
#include "core/pool_name.h"

namespace oom_forensics {
namespace {

using Allocators = std::vector<std::unique_ptr<AllocatorReplay>>;

// The number that `text` begins with; -1: none.
int LeadingNumber(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  int number = -1;
  return ParseInteger(text.substr(0, digits), &number) ? number : -1;
}

// Regions of all allocators by address: the blocks that the driver gave to
// TensorFlow's pools.
absl::flat_hash_map<uint64_t, int> RegionOwners(const Allocators& allocators) {
  absl::flat_hash_map<uint64_t, int> owners;
  for (size_t i = 0; i < allocators.size(); ++i) {
    if (allocators[i]->regions_derived()) continue;
    for (const RegionChange& region : allocators[i]->region_changes()) {
      if (region.added) owners.emplace(region.address, static_cast<int>(i));
    }
  }
  return owners;
}

class Replayer {
 public:
  Replayer(const HostTrace& host, const Allocators& allocators)
      : host_(host), owners_(RegionOwners(allocators)) {}

  void Allocate(const DeviceEvent& event) {
    DeviceChange change;
    change.time_ps = event.time_ps;
    change.bytes = event.size_bytes;
    change.anonymous = event.address == 0;
    if (change.anonymous) ++replay_.anonymous_blocks;
    change.group = GroupOf(event);
    if (!change.anonymous) {
      // A block that lies there already lost its free.
      if (const auto found = live_.find(event.address); found != live_.end()) {
        Release(event.time_ps, found->second);
      }
      live_[event.address] = {change.group, change.bytes};
    }
    replay_.changes.push_back(change);
  }

  void Free(const DeviceEvent& event) {
    if (event.address == 0) {
      DeviceChange change;
      change.time_ps = event.time_ps;
      change.allocated = false;
      change.anonymous = true;
      change.group = GroupOf(event);
      replay_.changes.push_back(change);
      return;
    }
    const auto found = live_.find(event.address);
    if (found == live_.end()) {
      ++replay_.unmatched_frees;
      return;
    }
    Release(event.time_ps, found->second);
    live_.erase(found);
  }

  DeviceReplay Take() { return std::move(replay_); }

 private:
  struct Block {
    uint32_t group = 0;
    uint64_t bytes = 0;
  };

  void Release(int64_t time_ps, const Block& block) {
    DeviceChange change;
    change.time_ps = time_ps;
    change.group = block.group;
    change.bytes = block.bytes;
    change.allocated = false;
    replay_.changes.push_back(change);
  }

  uint32_t GroupOf(const DeviceEvent& event) {
    const auto owner = owners_.find(event.address);
    const int allocator =
        event.address == 0 || owner == owners_.end() ? -1 : owner->second;
    const auto [found, is_new] = group_ids_.emplace(
        std::tuple(event.memory_kind, event.pool, event.source, allocator),
        static_cast<uint32_t>(replay_.groups.size()));
    if (is_new) {
      DeviceGroup group;
      group.memory_kind = event.memory_kind;
      group.pool = event.pool;
      group.source = event.source;
      group.allocator = allocator;
      group.on_device = LiesOnDevice(host_.strings.Get(event.memory_kind));
      replay_.groups.push_back(group);
    }
    return found->second;
  }

  const HostTrace& host_;
  const absl::flat_hash_map<uint64_t, int> owners_;
  DeviceReplay replay_;
  absl::flat_hash_map<uint64_t, Block> live_;
  std::map<std::tuple<StringId, uint64_t, StringId, int>, uint32_t> group_ids_;
};

}  // namespace

int DeviceOrdinalOf(const AllocatorTrace& allocator) {
  return allocator.cuda_device >= 0
             ? allocator.cuda_device
             : GpuOrdinalOf(allocator.name, allocator.device);
}

int DeviceOrdinalOf(const DeviceTrace& device) {
  const size_t colon = device.name.rfind(':');
  if (colon == std::string::npos) return -1;
  return LeadingNumber(std::string_view(device.name).substr(colon + 1));
}

bool LiesOnDevice(std::string_view memory_kind) {
  return memory_kind != "pinned" && memory_kind != "pageable";
}

DeviceReplay ReplayDevice(const HostTrace& host, const DeviceTrace& device,
                          const Allocators& allocators) {
  Replayer replayer(host, allocators);
  uint64_t events = 0;
  for (const DeviceEvent& event : device.events) {
    StopIfCancelled(events++);
    if (event.kind == DeviceEventKind::kAlloc) replayer.Allocate(event);
    if (event.kind == DeviceEventKind::kFree) replayer.Free(event);
  }
  DeviceReplay replay = replayer.Take();

  // A pool lies where the driver gave it a region; where no region was seen,
  // its name tells.
  const int ordinal = DeviceOrdinalOf(device);
  for (size_t i = 0; i < allocators.size(); ++i) {
    const bool seen_here = std::any_of(
        replay.groups.begin(), replay.groups.end(),
        [i](const DeviceGroup& group) {
          return group.allocator == static_cast<int>(i) && group.on_device;
        });
    if (seen_here ||
        (ordinal >= 0 && DeviceOrdinalOf(allocators[i]->trace()) == ordinal)) {
      replay.pools.push_back(i);
    }
  }
  return replay;
}

uint64_t PoolBytesAt(const DeviceReplay& device, const Allocators& allocators,
                     int64_t time_ps) {
  uint64_t bytes = 0;
  for (const size_t pool : device.pools) {
    const AllocatorReplay& replay = *allocators[pool];
    bytes += replay.usage().At(replay.PositionAfter(time_ps)).reserved_bytes;
  }
  return bytes;
}

}  // namespace oom_forensics
