#include "converter/command/values.h"

#include <cmath>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr Unit kUnits[] = {
    {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40},
    {"kB", 1e3},     {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9},
    {"TB", 1e12},    {"B", 1},
};

}  // namespace

std::optional<uint64_t> ParseBytes(const std::string& text) {
  uint64_t whole = 0;
  if (ParseInteger(text, &whole)) return whole;
  for (const Unit& unit : kUnits) {
    std::string_view number = text;
    if (!ConsumeSuffix(&number, unit.name)) continue;
    double count = 0;
    if (!absl::SimpleAtod(absl::StripAsciiWhitespace(Absl(number)), &count)) {
      return std::nullopt;
    }
    const double bytes = std::round(count * unit.bytes);
    // Not of NaN either.
    if (!(bytes >= 0 && bytes < 0x1p64)) return std::nullopt;
    return static_cast<uint64_t>(bytes);
  }
  return std::nullopt;
}

std::optional<int64_t> ParseTimeNs(const std::string& text) {
  int64_t time_ns = 0;
  if (ParseInteger(text, &time_ns)) return time_ns;
  std::string_view date = text;
  ConsumeSuffix(&date, " UTC");
  for (const char* format : {"%Y-%m-%d%ET%H:%M:%E*S%Ez",
                             "%Y-%m-%d%ET%H:%M:%E*S", "%Y-%m-%d %H:%M:%E*S"}) {
    absl::Time time;
    std::string error;
    if (absl::ParseTime(format, Absl(date), &time, &error)) {
      return absl::ToUnixNanos(time);
    }
  }
  return std::nullopt;
}

}  // namespace oom_forensics
