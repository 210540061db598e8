#include "collector/xla/program_id.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>

namespace oom_forensics::collector {
namespace {

// Larger than any HloModule.
constexpr size_t kMaxOffset = 64 << 10;

// A relative address of four bytes that ends at `end`.
const unsigned char* Target(const unsigned char* end) {
  int32_t distance;
  std::memcpy(&distance, end - 4, 4);
  return end + distance;
}

// Whether the code at `stub` jumps through `slot`: [endbr64] [bnd] jmp *slot.
bool JumpsThrough(const unsigned char* stub, const void* slot,
                  const void* library) {
  Dl_info info;
  if (dladdr(stub, &info) == 0 || info.dli_fbase != library) return false;
  constexpr unsigned char kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (std::memcmp(stub, kEndbr64, sizeof(kEndbr64)) == 0) stub += 4;
  if (*stub == 0xf2) ++stub;
  return stub[0] == 0xff && stub[1] == 0x25 && Target(stub + 6) == slot;
}

// Whether `code` is `mov esi, [register + disp32]`, six bytes.
bool LoadsEsi(const unsigned char* code) {
  constexpr unsigned char kWithIndex = 0xb4;
  return code[0] == 0x8b && (code[1] & 0xf8) == 0xb0 && code[1] != kWithIndex;
}

}  // namespace

std::optional<size_t> OffsetOfPassedId(
    std::basic_string_view<unsigned char> code, const void* call_slot) {
  constexpr size_t kLoad = 6;
  constexpr size_t kCall = 5;
  Dl_info info;
  if (code.empty() || call_slot == nullptr || dladdr(code.data(), &info) == 0) {
    return std::nullopt;
  }
  std::optional<size_t> found;
  for (size_t i = 0; i + kLoad + kCall <= code.size(); ++i) {
    const unsigned char* const load = code.data() + i;
    const unsigned char* const call = load + kLoad;
    if (!LoadsEsi(load) || call[0] != 0xe8 ||
        !JumpsThrough(Target(call + kCall), call_slot, info.dli_fbase)) {
      continue;
    }
    uint32_t offset;
    std::memcpy(&offset, load + 2, 4);
    if (offset >= kMaxOffset || (found.has_value() && *found != offset)) {
      return std::nullopt;
    }
    found = offset;
  }
  return found;
}

}  // namespace oom_forensics::collector
