// The memory of a host as its process saw it, and how that ended.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_HOST_MEMORY_TRACE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_HOST_MEMORY_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics {

// A quantity of proto/event_schema.h, "rss_anon", over time.
struct HostQuantity {
  // Sorted, nanoseconds since the epoch.
  std::vector<int64_t> time_ns;
  std::vector<uint64_t> bytes;
};

struct HostMemoryTrace {
  // By name.
  std::map<std::string, HostQuantity, std::less<>> quantities;
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, uint64_t, std::less<>> numbers;

  bool empty() const { return quantities.empty() && texts.empty(); }

  // Null where it is not known.
  const HostQuantity* Find(std::string_view name) const {
    const auto found = quantities.find(name);
    return found == quantities.end() ? nullptr : &found->second;
  }
  // Empty where it is not known.
  std::string TextOf(std::string_view fact) const {
    const auto found = texts.find(fact);
    return found == texts.end() ? std::string() : found->second;
  }
  // 0 where it is not known.
  uint64_t NumberOf(std::string_view fact) const {
    const auto found = numbers.find(fact);
    return found == numbers.end() ? 0 : found->second;
  }
  // The value at the last sample; 0 where there is none.
  uint64_t Last(std::string_view quantity) const {
    const HostQuantity* const found = Find(quantity);
    return found == nullptr || found->bytes.empty() ? 0 : found->bytes.back();
  }
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_HOST_MEMORY_TRACE_H_
