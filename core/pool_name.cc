#include "core/pool_name.h"

#include <charconv>

namespace oom_forensics {
namespace {

// The number that `text` begins with; -1: none.
int LeadingNumber(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

int GpuOrdinalOf(std::string_view pool_name, std::string_view device_name) {
  constexpr std::string_view kPool = "GPU_";
  constexpr std::string_view kDevice = "GPU:";
  if (pool_name.substr(0, kPool.size()) == kPool) {
    return LeadingNumber(pool_name.substr(kPool.size()));
  }
  const size_t gpu = device_name.rfind(kDevice);
  if (gpu == std::string_view::npos) return -1;
  return LeadingNumber(device_name.substr(gpu + kDevice.size()));
}

}  // namespace oom_forensics
