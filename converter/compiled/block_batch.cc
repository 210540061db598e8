#include "converter/compiled/block_batch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "converter/trace/site_table.h"

namespace oom_forensics {
namespace {

// Dimensions of the kernel of a two-dimensional convolution.
constexpr size_t kKernelDims = 4;

// 0: it has no dims, or they cannot be read.
int64_t LeadingDim(const std::string& shape) {
  std::vector<int64_t> dims;
  return ParseShape(shape, &dims) && !dims.empty() ? dims.front() : 0;
}

// Allocations of the arguments that the module writes a result over: weights.
std::set<int64_t> WrittenOver(const CompiledModule& module) {
  std::set<int64_t> written_over;
  for (const CompiledAllocation& result : module.fresh_results) {
    written_over.insert(result.index);
  }
  return written_over;
}

std::set<int64_t> BatchCandidates(const CompiledModule& module) {
  const std::set<int64_t> written_over = WrittenOver(module);
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

// Whether the dims are those of the weight, but for one behind the first that
// is a part of the weight's: one of the four kernels of an LSTM.
bool IsPartOf(const std::vector<int64_t>& dims,
              const std::vector<int64_t>& weight) {
  if (dims.size() != weight.size() || dims.front() != weight.front()) {
    return false;
  }
  size_t parts = 0;
  for (size_t i = 1; i < dims.size(); ++i) {
    if (dims[i] == weight[i]) continue;
    if (dims[i] <= 0 || weight[i] % dims[i] != 0) return false;
    ++parts;
  }
  return parts == 1;
}

}  // namespace

BlockBatch::BlockBatch(const CompiledModule& module, int64_t size)
    : size_(size) {
  const std::set<int64_t> written_over = WrittenOver(module);
  for (const CompiledAllocation& argument : module.allocations) {
    if (argument.kind != BufferKind::kParameter) continue;
    for (const CompiledBuffer& buffer : argument.buffers) {
      const bool is_fixed = LeadingDim(buffer.shape) != size;
      if (is_fixed) fixed_shapes_.insert(buffer.shape);
      std::vector<int64_t> dims;
      if ((is_fixed || written_over.count(argument.index) != 0) &&
          ParseShape(buffer.shape, &dims) && !dims.empty()) {
        weight_dims_.insert(std::move(dims));
      }
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

bool BlockBatch::MayBeWeight(const CompiledBuffer& buffer) const {
  std::vector<int64_t> dims;
  if (!ParseShape(buffer.shape, &dims) || dims.empty()) return false;
  if (IsLikeWeight(dims, buffer.held_for_backward)) return true;
  // A loop over time stacks the gradients of its rounds. Where their number may
  // be the batch, too, that is told of kernels only: a matrix is soon as large
  // as another.
  const bool may_be_batch = dims.front() > 0 && dims.front() % size_ == 0;
  if (dims.size() < (may_be_batch ? kKernelDims + 1 : 3)) return false;
  dims.erase(dims.begin());
  return IsLikeWeight(dims, buffer.held_for_backward);
}

bool BlockBatch::IsLikeWeight(const std::vector<int64_t>& dims,
                              bool held_for_backward) const {
  return std::any_of(weight_dims_.begin(), weight_dims_.end(),
                     [&](const std::vector<int64_t>& weight) {
                       if (IsPartOf(dims, weight)) return true;
                       // What is held for the backward pass are activations;
                       // of weights next to nothing is copied for it.
                       return !held_for_backward &&
                              std::is_permutation(weight.begin(), weight.end(),
                                                  dims.begin(), dims.end());
                     });
}

uint64_t BlockBatch::LeastBytesOf(const CompiledAllocation& block,
                                  bool surely) const {
  CompiledAllocation fixed;
  fixed.size_bytes = block.size_bytes;
  for (const CompiledBuffer& buffer : block.buffers) {
    if (Scales(buffer) && !(surely && MayBeWeight(buffer))) continue;
    fixed.buffers.push_back(buffer);
  }
  const std::vector<LiveBytes> live = fixed.LiveOver();
  const auto most = std::max_element(
      live.begin(), live.end(),
      [](const LiveBytes& a, const LiveBytes& b) { return a.bytes < b.bytes; });
  return most == live.end() ? 0 : fixed.LiveBytesAt(most->point);
}

BlockBatch::Share BlockBatch::ShareOf(const CompiledAllocation& block) const {
  Share share;
  for (const BlockPart& part : block.PartsAt(block.peak)) {
    if (part.buffer == BlockPart::kUnused) continue;
    ++share.of_buffers;
    if (!Scales(block.buffers[part.buffer])) continue;
    ++share.buffers;
    share.bytes += part.size_bytes;
    if (!MayBeWeight(block.buffers[part.buffer])) {
      share.sure_bytes += part.size_bytes;
    }
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
