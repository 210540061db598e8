// Sizes for people. The same in every locale.
#ifndef OOM_FORENSICS_CORE_SIZE_TEXT_H_
#define OOM_FORENSICS_CORE_SIZE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace oom_forensics {

// "0 B", "1023 B", "64.0 MiB", "1.25 GiB": three digits or more, binary units.
std::string FormatBytes(uint64_t bytes);

// "1,234,567"
std::string FormatCount(uint64_t count);

// "1 tensor", "1,234 tensors"
std::string CountOf(uint64_t count, std::string_view singular);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_SIZE_TEXT_H_
