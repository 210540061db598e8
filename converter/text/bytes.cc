#include "converter/text/bytes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace oom_forensics {

std::string FormatBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kUnit = 1024.0;
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / kUnit;
  size_t unit = 0;
  // As it will be printed: 1023.96 KiB is 1.00 MiB.
  while (value >= 1023.95 && unit + 1 < 6) {
    value /= kUnit;
    ++unit;
  }
  return value < 10 ? absl::StrFormat("%.2f %s", value, kUnits[unit])
                    : absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string FormatCount(uint64_t count) {
  std::string digits = absl::StrCat(count);
  for (int i = static_cast<int>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<size_t>(i), ",");
  }
  return digits;
}

std::string CountOf(uint64_t count, std::string_view singular) {
  return FormatCount(count).append(" ").append(singular).append(
      count == 1 ? "" : "s");
}

}  // namespace oom_forensics
