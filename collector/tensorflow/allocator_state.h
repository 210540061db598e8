// AllocatorState: one allocator as it is right now, by its own account.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_STATE_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_STATE_H_

#include <cstdint>
#include <optional>

#include "collector/json_writer.h"
#include "collector/recording/allocator_statistics.h"
#include "collector/recording/allocator_table.h"
#include "collector/tensorflow/memory_dump.h"

namespace oom_forensics::collector {

// What an allocator is asked for: its counters, or also its map, for which it
// walks all its chunks with its lock held.
enum class StateDepth : uint8_t { kCounters, kMap };

struct AllocatorState {
  AllocatorInfo info;
  // False: only its sizes are known; nothing refers to it by its id.
  bool has_events = true;
  // None if the allocator does not say, or may not be asked.
  std::optional<AllocatorStatistics> statistics;
  std::optional<MemoryDumpSummary> map;
  // Pieces of memory that it got from the system; chunks do not merge across.
  uint64_t regions = 0;
  // Their bytes, as far as they were seen to be made.
  uint64_t reserved_bytes = 0;
  // Its allocations that the recorder's list of what is live had no room for.
  uint64_t unlisted_allocations = 0;
};

// "name#instance", as its plane is called.
std::string FullName(const AllocatorInfo& info);

// Appends the state as a JSON object; docs/python.md has its members.
void WriteAllocatorState(const AllocatorState& state, JsonWriter* json);

// Appends an object in the place of the allocators that the table had no slot
// for: of them only `requests` is known. Nothing where there were none.
void WriteUnknownAllocators(uint64_t requests, JsonWriter* json);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_STATE_H_
