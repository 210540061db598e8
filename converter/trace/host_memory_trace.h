// The memory of a host as its process saw it, and how that ended.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_HOST_MEMORY_TRACE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_HOST_MEMORY_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "converter/trace/source_table.h"

namespace oom_forensics {

// A quantity of proto/event_schema.h, "rss_anon", over time.
struct HostQuantity {
  // Sorted, nanoseconds since the epoch.
  std::vector<int64_t> time_ns;
  std::vector<uint64_t> bytes;
};

// What the program did that takes memory beside its blocks, of one place of it:
// see proto/event_schema.h, "Host memory".
struct HostActivity {
  // schema::kTraceActivity, ...
  std::string kind;
  std::string name;
  std::string what;
  StackIndex stack = kNoStack;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  uint64_t times = 0;
  bool under_way = false;
  uint64_t live = 0;
  uint64_t element_bytes = 0;
  uint64_t grown_bytes = 0;
  uint64_t begin_bytes = 0;
};

struct HostMemoryTrace {
  // By name.
  std::map<std::string, HostQuantity, std::less<>> quantities;
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, uint64_t, std::less<>> numbers;
  std::vector<HostActivity> activities;

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
