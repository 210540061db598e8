// The batch of a step that XLA compiled, from the shapes of its buffers.
//
// XLA merges dims ([16,384,256] becomes [6144,256]), so a leading dim may be a
// multiple of the batch; before it a loop over time has its rounds. An argument
// that the step is fed with has the batch itself.
//
// A small batch is the size of other dims, too: a kernel of 5 x 5 has the shape
// of a batch of 5. What may as well be a weight, or its gradient, is known not
// to be sure.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_BLOCK_BATCH_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_BLOCK_BATCH_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "converter/hlo/compiled_module.h"

namespace oom_forensics {

class BlockBatch {
 public:
  // The leading dim of an argument that most of the block, at its peak, is a
  // multiple of. Nothing where that is less than half of it.
  static std::optional<BlockBatch> Find(const CompiledModule& module,
                                        const CompiledAllocation& block);
  // A batch that is known from elsewhere.
  BlockBatch(const CompiledModule& module, int64_t size);

  int64_t size() const { return size_; }
  // Whether a buffer shrinks with the batch.
  bool Scales(const CompiledBuffer& buffer) const;
  // Whether one that does, by its shape, may be a weight as well: its dims are
  // those of one in another order, or a part of it.
  bool MayBeWeight(const CompiledBuffer& buffer) const;
  // For the block at its peak: how many buffers shrink, of how many, and what
  // they take.
  struct Share {
    size_t buffers = 0;
    size_t of_buffers = 0;
    uint64_t bytes = 0;
    // What those of them take that cannot be weights.
    uint64_t sure_bytes = 0;
  };
  Share ShareOf(const CompiledAllocation& block) const;
  // What the block takes however small the batch is: the most, over the
  // program, of buffers that do not shrink; `surely`: or may not.
  uint64_t LeastBytesOf(const CompiledAllocation& block, bool surely) const;

 private:
  bool IsLikeWeight(const std::vector<int64_t>& dims,
                    bool held_for_backward) const;

  int64_t size_ = 0;
  // For the arguments that do not begin with the batch: weights.
  std::set<std::string> fixed_shapes_;
  // The shapes of all weights, including those whose first dimension is size_.
  std::set<std::vector<int64_t>> weight_dims_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_BLOCK_BATCH_H_
