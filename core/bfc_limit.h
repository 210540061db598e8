// The part of a limit that a BFC pool can use.
#ifndef OOM_FORENSICS_CORE_BFC_LIMIT_H_
#define OOM_FORENSICS_CORE_BFC_LIMIT_H_

#include <cstdint>

#include "core/bfc.h"

namespace oom_forensics {

// The part of `bytes` that can be chunks: a limit that is not a multiple is not
// used to its end (BFCAllocator::Extend).
constexpr uint64_t RoundedDownBytes(uint64_t bytes) {
  return bytes / kMinAllocationBytes * kMinAllocationBytes;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_BFC_LIMIT_H_
