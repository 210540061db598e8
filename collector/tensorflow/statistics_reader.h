// Reads tsl::AllocatorStats out of what an allocator's GetStats() returns.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_STATISTICS_READER_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_STATISTICS_READER_H_

#include <optional>

#include "collector/recording/allocator_statistics.h"

namespace oom_forensics::collector {

// std::optional<AllocatorStats> tsl::Allocator::GetStats(), as the System V ABI
// sees it: the caller passes the address of the result as a hidden first
// argument.
using GetStats = void* (*)(void* result, void* allocator);

// None if the answer does not look as this collector knows it.
std::optional<AllocatorStatistics> ReadStatistics(GetStats get_stats,
                                                  void* allocator);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_STATISTICS_READER_H_
