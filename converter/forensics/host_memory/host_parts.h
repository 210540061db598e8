// What the memory of a process consists of, at each of its samples.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_PARTS_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_PARTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "converter/trace/host_memory_trace.h"

namespace oom_forensics {

inline constexpr size_t kHostPartCount = 9;

// As HostMemorySeries.parts has them.
const std::array<std::string_view, kHostPartCount>& HostPartNames();

struct HostParts {
  uint64_t used_bytes = 0;
  uint64_t resident_bytes = 0;
  // They add up to resident_bytes: a part that is not all touched yet is cut.
  std::array<uint64_t, kHostPartCount> bytes = {};
};

// When the samples were taken; empty: there are none.
const std::vector<int64_t>& HostTimes(const HostMemoryTrace& memory);

// Splits the memory of each sample into its parts. malloc is counted less often
// than the blocks: each count is compared with the blocks of its own time.
std::vector<HostParts> PartsOverTime(const HostMemoryTrace& memory);

// One of them at the last sample; 0: there is none.
uint64_t PartAtLast(const HostMemoryTrace& memory, std::string_view name);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_PARTS_H_
