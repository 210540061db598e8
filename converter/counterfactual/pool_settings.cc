#include "converter/counterfactual/pool_settings.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "converter/text/text.h"
#include "core/bfc.h"
#include "core/bfc_limit.h"

namespace oom_forensics {
namespace {

// A pool whose only region is at least this part of its limit does not grow.
constexpr double kWholePoolShare = 0.99;

// BFCAllocator's static reading of a boolean variable: anything but "false" is
// true (GetGarbageCollectionValue in gpu_bfc_allocator.cc and
// pluggable_device_bfc_allocator.cc).
constexpr std::string_view kGarbageCollection =
    "TF_ENABLE_GPU_GARBAGE_COLLECTION=";

// Pools of devices collect unused regions unless they are told not to; pools of
// the host never do.
bool CollectsGarbage(const AllocatorReplay& replay) {
  const std::string& device = replay.trace().device;
  const bool is_of_device =
      StartsWith(replay.trace().name, "GPU_") ||
      (!device.empty() && device.find("CPU") == std::string::npos);
  if (!is_of_device || replay.trace().kind == "gpu_host") return false;
  for (const std::string& setting : replay.host().facts.environment) {
    if (StartsWith(setting, kGarbageCollection)) {
      return setting.substr(kGarbageCollection.size()) != "false";
    }
  }
  return true;
}

// TensorFlow up to 2.16 asks a device that is full for less only once.
bool AsksForLessOnlyOnce(const AllocatorReplay& replay) {
  int major = 0;
  int minor = 0;
  const std::string& version = replay.host().facts.tensorflow_version;
  return std::sscanf(version.c_str(), "%d.%d", &major, &minor) == 2 &&
         major == 2 && minor <= 16;
}

}  // namespace

BfcSettings RecordedSettings(const AllocatorReplay& replay, Position position,
                             uint64_t limit_bytes) {
  BfcSettings settings;
  settings.limit_bytes = limit_bytes != 0
                             ? limit_bytes
                             : replay.usage().At(position).reserved_bytes;
  const std::vector<MappedRegion> regions = replay.RegionsAt(position);
  settings.allow_growth =
      regions.size() != 1 ||
      static_cast<double>(regions.front().size_bytes) <
          kWholePoolShare * static_cast<double>(settings.limit_bytes);
  settings.garbage_collection = CollectsGarbage(replay);
  settings.asks_for_less_only_once = AsksForLessOnlyOnce(replay);
  return settings;
}

PoolState PoolAt(const AllocatorReplay& replay, Position position) {
  PoolState state;
  const ChunkMap map = replay.MapAt(position);
  for (const MappedRegion& region : map.regions) {
    state.regions.push_back({region.address, region.size_bytes});
  }
  for (const MappedChunk& chunk : map.chunks) {
    state.chunks.push_back({chunk.address, chunk.size_bytes, !chunk.is_free()});
    state.holders.push_back(chunk.row);
  }
  for (const RegionChange& change : replay.region_changes()) {
    if (!replay.regions_derived() && change.row >= position) break;
    if (change.added) state.region_sizes_bytes.push_back(change.size_bytes);
  }
  return state;
}

bool ResizeOnlyRegion(uint64_t size_bytes, PoolState* pool) {
  if (pool->regions.size() != 1) return false;
  BfcRegion& region = pool->regions.front();
  while (!pool->chunks.empty() && !pool->chunks.back().in_use) {
    pool->chunks.pop_back();
    pool->holders.pop_back();
  }
  const uint64_t used_bytes = pool->chunks.empty()
                                  ? 0
                                  : pool->chunks.back().address +
                                        pool->chunks.back().size_bytes -
                                        region.address;
  const uint64_t bytes = RoundedDownBytes(size_bytes);
  if (bytes < used_bytes || bytes > UINT64_MAX - region.address) return false;
  region.size_bytes = bytes;
  if (bytes > used_bytes) {
    pool->chunks.push_back(
        {region.address + used_bytes, bytes - used_bytes, false});
    pool->holders.push_back(kNoRow);
  }
  return true;
}

}  // namespace oom_forensics
