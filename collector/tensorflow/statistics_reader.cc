#include "collector/tensorflow/statistics_reader.h"

#if !defined(__x86_64__)
#error "The calling convention of hidden results is that of x86-64."
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace oom_forensics::collector {
namespace {

// Larger than any statistics.
struct alignas(std::max_align_t) ResultBuffer {
  unsigned char bytes[1024];
};

// tsl::AllocatorStats in an std::optional, as all versions from 2.15 to 2.21
// have it.
struct OptionalInt64 {
  int64_t value;
  bool engaged;
};
struct TslAllocatorStats {
  int64_t num_allocs;
  int64_t bytes_in_use;
  int64_t peak_bytes_in_use;
  int64_t largest_alloc_size;
  OptionalInt64 bytes_limit;
  int64_t bytes_reserved;
  int64_t peak_bytes_reserved;
  OptionalInt64 bytes_reservable_limit;
  int64_t largest_free_block_bytes;
  OptionalInt64 pool_bytes;
  OptionalInt64 peak_pool_bytes;
};
struct OptionalStats {
  TslAllocatorStats stats;
  bool engaged;
};

// What the buffer holds before the call: a byte that neither a size nor a flag
// consists of, to see how far the answer reached.
constexpr unsigned char kUntouched = 0xa5;

bool LooksRight(const ResultBuffer& buffer, const OptionalStats& answer) {
  for (size_t i = sizeof(OptionalStats); i < sizeof(buffer.bytes); ++i) {
    if (buffer.bytes[i] != kUntouched) return false;
  }
  const auto* engaged = reinterpret_cast<const unsigned char*>(&answer.engaged);
  const auto* has_limit =
      reinterpret_cast<const unsigned char*>(&answer.stats.bytes_limit.engaged);
  return *engaged == 1 && *has_limit <= 1 && answer.stats.num_allocs >= 0 &&
         answer.stats.bytes_in_use >= 0 &&
         answer.stats.peak_bytes_in_use >= answer.stats.bytes_in_use &&
         // Not above what is in use: some call so what is only an aim.
         (*has_limit == 0 || answer.stats.bytes_limit.value >= 0);
}

}  // namespace

std::optional<AllocatorStatistics> ReadStatistics(GetStats get_stats,
                                                  void* allocator) {
  ResultBuffer buffer;
  std::memset(buffer.bytes, kUntouched, sizeof(buffer.bytes));
  get_stats(&buffer, allocator);
  OptionalStats answer;
  std::memcpy(&answer, buffer.bytes, sizeof(answer));
  if (!LooksRight(buffer, answer)) return std::nullopt;
  AllocatorStatistics statistics;
  statistics.num_allocs = static_cast<uint64_t>(answer.stats.num_allocs);
  statistics.bytes_in_use = static_cast<uint64_t>(answer.stats.bytes_in_use);
  statistics.peak_bytes_in_use =
      static_cast<uint64_t>(answer.stats.peak_bytes_in_use);
  statistics.largest_alloc_bytes =
      static_cast<uint64_t>(answer.stats.largest_alloc_size);
  if (answer.stats.bytes_limit.engaged) {
    statistics.limit_bytes =
        static_cast<uint64_t>(answer.stats.bytes_limit.value);
  }
  return statistics;
}

}  // namespace oom_forensics::collector
