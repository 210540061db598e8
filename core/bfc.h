// The numbers of TensorFlow's BFC allocator (xla/tsl/framework/bfc_allocator.h
// and .cc, alike from TensorFlow 2.15 to 2.21).
//
//   bin       0      1      2            20
//   chunks    256 B  512 B  1 KiB  ...   256 MiB and more
#ifndef OOM_FORENSICS_CORE_BFC_H_
#define OOM_FORENSICS_CORE_BFC_H_

#include <cstdint>
#include <limits>

namespace oom_forensics {

// BFCAllocator::kMinAllocationSize: chunks are multiples of it.
inline constexpr uint64_t kMinAllocationBytes = 256;
// BFCAllocator::kNumBins.
inline constexpr uint32_t kBinCount = 21;
// The first region that a growing pool takes, where its limit allows it; each
// further one is twice as large.
inline constexpr uint64_t kFirstRegionBytes = uint64_t{2} << 20;
// BFCAllocator::kMaxInternalFragmentation: what a chunk may exceed a request by
// before it is split, unless TensorFlow's fragmentation fraction is set.
inline constexpr uint64_t kMaxUnsplitRestBytes = uint64_t{128} << 20;

// What the allocator makes of a request (BFCAllocator::RoundedBytes). Saturates
// where TensorFlow would overflow.
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

// The smallest chunk of a bin.
constexpr uint64_t MinBytesOfBin(uint32_t bin) {
  return kMinAllocationBytes << bin;
}

// Whether the rest of a free chunk is split off when `rounded_bytes` are taken
// from it (BFCAllocator::FindChunkPtr).
constexpr bool IsSplit(uint64_t chunk_bytes, uint64_t rounded_bytes,
                       uint64_t max_unsplit_rest_bytes = kMaxUnsplitRestBytes) {
  return chunk_bytes / 2 >= rounded_bytes ||
         chunk_bytes - rounded_bytes >= max_unsplit_rest_bytes;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_BFC_H_
