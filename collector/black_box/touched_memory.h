// How much of a block of memory the kernel has not given yet, because nothing
// has touched it.
#ifndef OOM_FORENSICS_COLLECTOR_BLACK_BOX_TOUCHED_MEMORY_H_
#define OOM_FORENSICS_COLLECTOR_BLACK_BOX_TOUCHED_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace oom_forensics::collector {

// Smaller blocks are taken as touched.
inline constexpr size_t kLeastUntouchedBytes = size_t{1} << 20;

// Counts whole pages in [address, address + bytes). Returns 0 if the process no
// longer has that memory. Takes some 0.5 ms for 1 GiB.
uint64_t UntouchedBytes(uint64_t address, uint64_t bytes) noexcept;

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_TOUCHED_MEMORY_H_
