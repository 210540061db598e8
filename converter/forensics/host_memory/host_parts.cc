#include "converter/forensics/host_memory/host_parts.h"

#include <algorithm>

#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

uint64_t At(const HostMemoryTrace& memory, std::string_view name,
            size_t sample) {
  const HostQuantity* const quantity = memory.Find(name);
  return quantity == nullptr || sample >= quantity->bytes.size()
             ? 0
             : quantity->bytes[sample];
}

}  // namespace

const std::array<std::string_view, kHostPartCount>& HostPartNames() {
  static constexpr std::array<std::string_view, kHostPartCount> kNames = {
      "tensors",     "pools",       "native", "python", "malloc_other",
      "malloc_free", "unexplained", "files",  "shared"};
  return kNames;
}

const std::vector<int64_t>& HostTimes(const HostMemoryTrace& memory) {
  static const std::vector<int64_t> none;
  const HostQuantity* const used = memory.Find(schema::kHostUsed);
  return used == nullptr ? none : used->time_ns;
}

std::vector<HostParts> PartsOverTime(const HostMemoryTrace& memory) {
  std::vector<HostParts> samples(HostTimes(memory).size());
  uint64_t malloc_used = 0;
  uint64_t malloc_other = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto at = [&](std::string_view name) { return At(memory, name, i); };
    const uint64_t tensors = at(schema::kHostTensors);
    const uint64_t pools = at(schema::kHostPools);
    const uint64_t native = at(schema::kHostNative);
    if (const uint64_t counted = at(schema::kHostMallocUsed);
        counted != malloc_used) {
      malloc_used = counted;
      malloc_other = counted - std::min(counted, tensors + pools + native);
    }
    const uint64_t anon = at(schema::kRssAnon);
    uint64_t left = anon;
    const auto take = [&left](uint64_t bytes) {
      const uint64_t taken = std::min(left, bytes);
      left -= taken;
      return taken;
    };
    HostParts& parts = samples[i];
    const uint64_t files = at(schema::kRssFile);
    const uint64_t shared = at(schema::kRssShmem);
    // Each part takes from what the parts before it have left.
    parts.bytes = {take(tensors),
                   take(pools),
                   take(native),
                   take(at(schema::kHostPython)),
                   take(malloc_other),
                   take(at(schema::kHostMallocFree)),
                   left,
                   files,
                   shared};
    parts.used_bytes = at(schema::kHostUsed);
    parts.resident_bytes = anon + files + shared;
  }
  return samples;
}

uint64_t PartAtLast(const HostMemoryTrace& memory, std::string_view name) {
  const std::vector<HostParts> samples = PartsOverTime(memory);
  const auto& names = HostPartNames();
  const auto at = std::find(names.begin(), names.end(), name);
  return samples.empty() || at == names.end()
             ? 0
             : samples.back().bytes[static_cast<size_t>(at - names.begin())];
}

}  // namespace oom_forensics
