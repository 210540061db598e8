#include "core/size_text.h"

#include <cmath>
#include <cstddef>

namespace oom_forensics {
namespace {

// `value` with as many decimals, with a point whatever the locale.
std::string Decimal(double value, int decimals) {
  const auto unit = static_cast<uint64_t>(std::pow(10, decimals));
  const auto parts =
      static_cast<uint64_t>(std::nearbyint(value * static_cast<double>(unit)));
  std::string fraction = std::to_string(parts % unit);
  fraction.insert(0, static_cast<size_t>(decimals) - fraction.size(), '0');
  return std::to_string(parts / unit) + "." + fraction;
}

}  // namespace

std::string FormatBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  constexpr double kUnit = 1024.0;
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / kUnit;
  size_t unit = 0;
  // As it will be printed: 1023.96 KiB is 1.00 MiB.
  while (value >= 1023.95 && unit + 1 < 6) {
    value /= kUnit;
    ++unit;
  }
  return Decimal(value, value < 10 ? 2 : 1) + " " + kUnits[unit];
}

std::string FormatCount(uint64_t count) {
  std::string digits = std::to_string(count);
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
