#include "converter/compiled/block_batch.h"

#include <utility>
#include <vector>

#include "converter/trace/site_table.h"

namespace oom_forensics {
namespace {

// 0: it has no dims, or they cannot be read.
int64_t LeadingDim(const std::string& shape) {
  std::vector<int64_t> dims;
  return ParseShape(shape, &dims) && !dims.empty() ? dims.front() : 0;
}

// Arguments that the module does not write a result over: no weights.
std::set<int64_t> BatchCandidates(const CompiledModule& module) {
  std::set<int64_t> written_over;
  for (const CompiledAllocation& result : module.fresh_results) {
    written_over.insert(result.index);
  }
  std::set<int64_t> candidates;
  for (const CompiledAllocation& argument : module.allocations) {
    if (argument.kind != BufferKind::kParameter ||
        written_over.count(argument.index) != 0) {
      continue;
    }
    for (const CompiledBuffer& buffer : argument.buffers) {
      const int64_t size = LeadingDim(buffer.shape);
      if (size > 1) candidates.insert(size);
    }
  }
  return candidates;
}

}  // namespace

BlockBatch::BlockBatch(const CompiledModule& module, int64_t size)
    : size_(size) {
  for (const CompiledAllocation& argument : module.allocations) {
    if (argument.kind != BufferKind::kParameter) continue;
    for (const CompiledBuffer& buffer : argument.buffers) {
      if (LeadingDim(buffer.shape) != size) fixed_shapes_.insert(buffer.shape);
    }
  }
}

bool BlockBatch::Scales(const CompiledBuffer& buffer) const {
  std::vector<int64_t> dims;
  if (!ParseShape(buffer.shape, &dims) || dims.empty() ||
      fixed_shapes_.count(buffer.shape) != 0) {
    return false;
  }
  if (dims.front() > 0 && dims.front() % size_ == 0) return true;
  // What a loop over time keeps of each of its rounds.
  return dims.size() > 2 && dims[1] == size_;
}

BlockBatch::Share BlockBatch::ShareOf(const CompiledAllocation& block) const {
  Share share;
  for (const BlockPart& part : block.PartsAt(block.peak)) {
    if (part.buffer == BlockPart::kUnused) continue;
    ++share.of_buffers;
    if (!Scales(block.buffers[part.buffer])) continue;
    ++share.buffers;
    share.bytes += part.size_bytes;
  }
  return share;
}

std::optional<BlockBatch> BlockBatch::Find(const CompiledModule& module,
                                           const CompiledAllocation& block) {
  std::optional<BlockBatch> best;
  uint64_t best_bytes = 0;
  // Rising: of those that fit alike the largest.
  for (const int64_t size : BatchCandidates(module)) {
    BlockBatch batch(module, size);
    const uint64_t bytes = batch.ShareOf(block).bytes;
    if (bytes * 2 < block.size_bytes || bytes < best_bytes) continue;
    best_bytes = bytes;
    best = std::move(batch);
  }
  return best;
}

}  // namespace oom_forensics
