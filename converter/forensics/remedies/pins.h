// The pins: the cheapest set of live allocations whose release opens a hole big
// enough for a request.
//
// A hole is one piece of address space inside one region, so the set is always
// what lies in one contiguous window of chunks:
//
//        | used | free | used | used | free | used |
//               [       window       ]
//
// The free chunks inside come for nothing; a chunk is released whole or not at
// all. Costs are never negative, so the cheapest window that ends at a given
// chunk is the shortest one that is big enough, and two pointers that walk each
// region once find all of them: linear in the chunks, and a true minimum.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_PINS_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_PINS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "converter/forensics/layout.h"

namespace oom_forensics {

// What is to be as small as possible.
enum class ReleaseCost {
  // Bytes of the released chunks.
  kBytes,
  // Number of released allocations.
  kCount,
  // Sum of their ages: prefers to release what is youngest.
  kAge,
};

struct ReleaseSet {
  uint64_t region_address = 0;
  // The hole that opens, with the free chunks that touch it.
  uint64_t hole_address = 0;
  uint64_t hole_bytes = 0;
  uint64_t released_bytes = 0;
  // Block::holder of the released chunks in address order; empty when a hole is
  // there already.
  std::vector<int64_t> holders;
};

// The cheapest release that opens a hole of `request_bytes` (already rounded as
// the allocator does). Equal costs: fewer bytes, then the lower address.
// Nothing when no region is that big, or the request is 0.
std::optional<ReleaseSet> CheapestRelease(const Layout& layout,
                                          uint64_t request_bytes,
                                          ReleaseCost cost);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_REMEDIES_PINS_H_
