// How a pool was set, as its trace shows it, and the pool as it stood, for a
// model of TensorFlow's allocator (converter/bfc/bfc_model.h) to go on from.
#ifndef OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_POOL_SETTINGS_H_
#define OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_POOL_SETTINGS_H_

#include <cstdint>
#include <vector>

#include "converter/bfc/bfc_model.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

// The settings that the pool had up to the position. `limit_bytes`: what it
// could grow to; 0: unknown, and the pool is taken for full as it stands.
BfcSettings RecordedSettings(const AllocatorReplay& replay, Position position,
                             uint64_t limit_bytes);

// A pool at a position, in the model's words.
struct PoolState {
  std::vector<BfcRegion> regions;
  std::vector<BfcChunk> chunks;
  // For each chunk, the kAlloc row that holds it; kNoRow: it is free.
  std::vector<Row> holders;
  // Sizes of the regions in the order in which they were taken.
  std::vector<uint64_t> region_sizes_bytes;
};
PoolState PoolAt(const AllocatorReplay& replay, Position position);

// Gives a pool of one region another size; false where it has others, or
// something lies beyond it. What is free at its end grows or shrinks.
bool ResizeOnlyRegion(uint64_t size_bytes, PoolState* pool);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COUNTERFACTUAL_POOL_SETTINGS_H_
