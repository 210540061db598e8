#include "collector/black_box/touched_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace oom_forensics::collector {

uint64_t UntouchedBytes(uint64_t address, uint64_t bytes) noexcept {
  constexpr uint64_t kPagesAtOnce = 4096;
  static const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t end = (address + bytes) / page_bytes * page_bytes;
  uint64_t begin = (address + page_bytes - 1) / page_bytes * page_bytes;
  uint64_t untouched = 0;
  unsigned char in_memory[kPagesAtOnce];
  while (begin < end) {
    const uint64_t pages = std::min(kPagesAtOnce, (end - begin) / page_bytes);
    if (mincore(reinterpret_cast<void*>(begin), pages * page_bytes,
                in_memory) != 0) {
      return 0;
    }
    untouched += static_cast<uint64_t>(
        std::count_if(in_memory, in_memory + pages,
                      [](unsigned char page) { return (page & 1) == 0; }));
    begin += pages * page_bytes;
  }
  return untouched * page_bytes;
}

}  // namespace oom_forensics::collector
