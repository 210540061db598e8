// The recorded requests in a pool where holes are no waste: one that puts
// blocks together from pieces, as CUDA's own (cuda_malloc_async) does. Only
// sums count.
#ifndef OOM_FORENSICS_CONVERTER_SIMULATION_GAPLESS_POOL_H_
#define OOM_FORENSICS_CONVERTER_SIMULATION_GAPLESS_POOL_H_

#include <cstdint>

#include "converter/replay/allocator_replay.h"
#include "converter/simulation/pool_simulation.h"

namespace oom_forensics {

// As PoolSimulator::Run, without maps, and with nothing moved.
Simulation RunGapless(const AllocatorReplay& replay, const Scenario& scenario,
                      const PoolSimulator::Range& range, uint64_t limit_bytes);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SIMULATION_GAPLESS_POOL_H_
