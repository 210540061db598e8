// How BFC rounds requests.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_ROUNDING_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_ROUNDING_H_

#include <cstdint>
#include <limits>

namespace oom_forensics {

// tsl::BFCAllocator::kMinAllocationSize: chunks are multiples of it.
inline constexpr uint64_t kMinAllocationBytes = 256;
// tsl::BFCAllocator::kNumBins: bin i holds chunks from 256 << i bytes.
inline constexpr uint32_t kBinCount = 21;

// What an allocator makes of a request. Saturates.
constexpr uint64_t RoundedBytes(uint64_t requested_bytes) {
  constexpr uint64_t kMask = kMinAllocationBytes - 1;
  if (requested_bytes > std::numeric_limits<uint64_t>::max() - kMask) {
    return std::numeric_limits<uint64_t>::max() & ~kMask;
  }
  return (requested_bytes + kMask) & ~kMask;
}

// The bin of a chunk: floor(log2(size / 256)), at most the last.
constexpr uint32_t BinOf(uint64_t size_bytes) {
  uint32_t bin = 0;
  for (uint64_t v = size_bytes / kMinAllocationBytes; v > 1; v >>= 1) ++bin;
  return bin < kBinCount ? bin : kBinCount - 1;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_ROUNDING_H_
