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

HostParts PartsAt(const HostMemoryTrace& memory, size_t sample) {
  const auto at = [&](std::string_view name) {
    return At(memory, name, sample);
  };
  HostParts parts;
  parts.used_bytes = at(schema::kHostUsed);
  const uint64_t anon = at(schema::kRssAnon);
  uint64_t left = anon;
  const auto take = [&](uint64_t bytes) {
    const uint64_t taken = std::min(left, bytes);
    left -= taken;
    return taken;
  };
  const uint64_t tensors = take(at(schema::kHostTensors));
  const uint64_t pools = take(at(schema::kHostPools));
  const uint64_t native = take(at(schema::kHostNative));
  const uint64_t python = take(at(schema::kHostPython));
  const uint64_t malloc_used = at(schema::kHostMallocUsed);
  const uint64_t other =
      take(malloc_used - std::min(malloc_used, tensors + pools + native));
  const uint64_t held = take(at(schema::kHostMallocFree));
  const uint64_t files = at(schema::kRssFile);
  const uint64_t shared = at(schema::kRssShmem);
  parts.bytes = {tensors, pools, native, python, other,
                 held,    left,  files,  shared};
  parts.resident_bytes = anon + files + shared;
  return parts;
}

}  // namespace oom_forensics
