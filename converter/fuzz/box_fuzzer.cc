#include <cstddef>
#include <cstdint>

#include "converter/fuzz/fuzz_targets.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  oom_forensics::FuzzBox({reinterpret_cast<const char*>(data), size});
  return 0;
}
