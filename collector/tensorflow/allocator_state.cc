#include "collector/tensorflow/allocator_state.h"

namespace oom_forensics::collector {

std::string FullName(const AllocatorInfo& info) {
  return info.name + "#" + std::to_string(info.instance);
}

void WriteAllocatorState(const AllocatorState& state, JsonWriter* json) {
  json->BeginObject();
  json->Field("name", FullName(state.info));
  json->Field("kind", state.info.kind);
  if (!state.info.device_name.empty()) {
    json->Field("device", state.info.device_name);
  }
  if (state.statistics.has_value()) {
    const AllocatorStatistics& statistics = *state.statistics;
    json->Field("allocations", statistics.num_allocs);
    json->Field("in_use_bytes", statistics.bytes_in_use);
    json->Field("peak_in_use_bytes", statistics.peak_bytes_in_use);
    json->Field("largest_allocation_bytes", statistics.largest_alloc_bytes);
    if (statistics.limit_bytes != 0) {
      json->Field("limit_bytes", statistics.limit_bytes);
    }
  }
  json->Field("regions", state.regions);
  if (!state.map.has_value() && state.reserved_bytes != 0) {
    json->Field("reserved_bytes", state.reserved_bytes);
  }
  if (state.unlisted_allocations != 0) {
    json->Field("unlisted_allocations", state.unlisted_allocations);
  }
  if (state.map.has_value()) {
    const MemoryDumpSummary& map = *state.map;
    json->Field("requested_bytes", map.requested_bytes);
    json->Field("reserved_bytes", map.reserved_bytes);
    json->Field("free_bytes", map.free_bytes);
    json->Field("largest_free_bytes", map.largest_free_bytes);
    // BFC's own measure: the share of the free memory that lies outside the
    // largest hole.
    json->Field(
        "fragmentation",
        map.free_bytes == 0
            ? 0.0
            : static_cast<double>(map.free_bytes - map.largest_free_bytes) /
                  static_cast<double>(map.free_bytes));
    json->Field("chunks_in_use", map.chunks_in_use);
    json->Field("chunks_free", map.chunks_free);
    json->Name("bins");
    json->BeginArray();
    for (size_t i = 0; i < kBinCount; ++i) {
      const MemoryDumpBin& bin = map.bins[i];
      if (bin.used_count == 0 && bin.free_count == 0) continue;
      json->BeginObject();
      json->Field("min_bytes", MinBytesOfBin(static_cast<uint32_t>(i)));
      json->Field("used_count", bin.used_count);
      json->Field("used_bytes", bin.used_bytes);
      json->Field("free_count", bin.free_count);
      json->Field("free_bytes", bin.free_bytes);
      json->EndObject();
    }
    json->EndArray();
  }
  json->EndObject();
}

void WriteUnknownAllocators(uint64_t requests, JsonWriter* json) {
  if (requests == 0) return;
  json->BeginObject();
  json->Field("name", "unknown");
  json->Field("kind", "unknown");
  json->Field("unrecorded_requests", requests);
  json->Field("regions", uint64_t{0});
  json->EndObject();
}

}  // namespace oom_forensics::collector
