// The memory of one allocator at one moment, as plain numbers: what the
// searches and what-if models of this folder work on.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_LAYOUT_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_LAYOUT_H_

#include <cstdint>
#include <vector>

namespace oom_forensics {

// One chunk of a region: free, or held by exactly one live allocation.
struct Block {
  static constexpr int64_t kFree = -1;

  uint64_t address = 0;
  uint64_t size_bytes = 0;
  // The caller's number of the allocation, >= 0; kFree when nobody holds it.
  int64_t holder = kFree;
  // How long it has been held (a duration); 0 when free.
  uint64_t age_ns = 0;

  bool free() const { return holder == kFree; }
  uint64_t end() const { return address + size_bytes; }
};

// One region that the allocator got from the system: blocks in address order,
// without gaps.
struct RegionLayout {
  uint64_t address = 0;
  uint64_t size_bytes = 0;
  std::vector<Block> blocks;

  uint64_t end() const { return address + size_bytes; }
};

// Regions in address order.
using Layout = std::vector<RegionLayout>;

// One block for each run of free blocks, and regions that touch as one: what
// the layout would be if the allocator merged over the borders of its regions,
// as TensorFlow's does only on virtual GPU memory.
Layout MergeTouchingRegions(const Layout& layout);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_LAYOUT_H_
