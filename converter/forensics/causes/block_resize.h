// What an allocation asks for when some of its tensors change in size: a tensor
// by itself, a compiled block by those of its buffers that lie in it at its
// peak.
//
// A block is taken to be laid out as before, and to be a little larger than the
// sum of its buffers: between batches of 4096 and 1024 of a recorded model that
// sum was within 1 % of the block that XLA then made.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_BLOCK_RESIZE_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_BLOCK_RESIZE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "converter/trace/host_trace.h"

namespace oom_forensics {

// A part of it, for what the compiler may lay out otherwise.
inline constexpr uint64_t kLayoutMargin = 20;

// Whether the site, or a buffer of it, is one of `changes` (by SiteId).
inline bool AnyPartOf(const HostTrace& host, SiteId site,
                      const std::vector<bool>& changes) {
  const auto parts = host.block_parts.find(site);
  if (parts == host.block_parts.end()) return changes[site];
  return std::any_of(
      parts->second.begin(), parts->second.end(),
      [&changes](const SitePart& part) { return changes[part.site]; });
}

// Bytes of what `changes` names of an allocation of that size.
inline uint64_t ChangingBytes(const HostTrace& host, SiteId site,
                              uint64_t bytes,
                              const std::vector<bool>& changes) {
  const auto parts = host.block_parts.find(site);
  if (parts == host.block_parts.end()) return changes[site] ? bytes : 0;
  uint64_t sum = 0;
  for (const SitePart& part : parts->second) {
    if (changes[part.site]) sum += host.sites.Get(part.site).allocated_bytes;
  }
  return sum;
}

// `bytes`, with what `changes` names resized by `resize(uint64_t) -> uint64_t`.
template <typename Resize>
uint64_t ResizedBytes(const HostTrace& host, SiteId site, uint64_t bytes,
                      const std::vector<bool>& changes, Resize resize) {
  const auto parts = host.block_parts.find(site);
  if (parts == host.block_parts.end()) {
    return changes[site] ? resize(bytes) : bytes;
  }
  uint64_t sum = 0;
  for (const SitePart& part : parts->second) {
    const uint64_t part_bytes = host.sites.Get(part.site).requested_bytes;
    sum += changes[part.site] ? resize(part_bytes) : part_bytes;
  }
  if (sum != bytes) sum += sum / kLayoutMargin;
  return std::clamp<uint64_t>(sum, 1, std::max<uint64_t>(1, bytes));
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_BLOCK_RESIZE_H_
