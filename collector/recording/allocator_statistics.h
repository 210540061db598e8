// What an allocator says about itself.
#ifndef OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_STATISTICS_H_
#define OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_STATISTICS_H_

#include <cstdint>

namespace oom_forensics::collector {

struct AllocatorStatistics {
  uint64_t num_allocs = 0;
  uint64_t bytes_in_use = 0;
  uint64_t peak_bytes_in_use = 0;
  uint64_t largest_alloc_bytes = 0;
  // 0: no limit known.
  uint64_t limit_bytes = 0;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_RECORDING_ALLOCATOR_STATISTICS_H_
