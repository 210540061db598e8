#include "converter/forensics/layout.h"

namespace oom_forensics {
namespace {

void Append(const Block& block, RegionLayout& region) {
  if (block.free() && !region.blocks.empty() && region.blocks.back().free()) {
    region.blocks.back().size_bytes += block.size_bytes;
    return;
  }
  region.blocks.push_back(block);
}

}  // namespace

Layout MergeTouchingRegions(const Layout& layout) {
  Layout merged;
  for (const RegionLayout& region : layout) {
    if (merged.empty() || merged.back().end() != region.address) {
      merged.push_back({region.address, 0, {}});
    }
    merged.back().size_bytes += region.size_bytes;
    for (const Block& block : region.blocks) Append(block, merged.back());
  }
  return merged;
}

}  // namespace oom_forensics
