// Errors in which a library, not an allocator, found no memory. TensorFlow's
// pool takes nearly all of a device; cuDNN, cuBLAS, NCCL and contexts need some
// of the rest, and tell of its lack in words that do not say memory.
#ifndef OOM_FORENSICS_CORE_OUTSIDE_POOL_H_
#define OOM_FORENSICS_CORE_OUTSIDE_POOL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/placement.h"

namespace oom_forensics {

// Who had no memory, as an error of TensorFlow's with this message tells:
// "cuDNN"; empty: it tells of something else.
std::string_view LibraryWithoutMemory(std::string_view message);

// The pool refused, and TensorFlow's copy to the device says so in words that
// do not: that is an out-of-memory like any other.
bool IsRefusedCopy(std::string_view message);

// A device when a library failed; all 0: no pool lies on one yet.
struct OutsidePool {
  DeviceNumbers device;
  // TensorFlow's pools on it, and what of them was in use.
  uint64_t pools_bytes = 0;
  uint64_t pools_in_use_bytes = 0;
};

// Whether the error says that memory was refused: then it was memory, however
// much was free.
bool SaysMemoryWasRefused(std::string_view message);

struct OutsidePoolVerdict {
  // "OUTSIDE_POOL", or "UNKNOWN" where nothing says that it was memory.
  const char* kind = "UNKNOWN";
  std::string sentence;
  // What to change.
  std::string remedy;
};

// What a run says of such an error.
struct FailedLibrary {
  // The error's message.
  std::string error;
  OutsidePool device;
};

// What the error itself says of the refusal decides; where it says nothing,
// what was free is compared with what TensorFlow leaves to libraries.
OutsidePoolVerdict JudgeOutsidePool(const FailedLibrary& failed);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_OUTSIDE_POOL_H_
