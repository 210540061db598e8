// The batch of a step that XLA compiled, from the shapes of its buffers.
//
// XLA merges dims ([16,384,256] becomes [6144,256]), so a leading dim may be a
// multiple of the batch; before it a loop over time has its rounds. An argument
// that the step is fed with has the batch itself.
#ifndef OOM_FORENSICS_CONVERTER_COMPILED_BLOCK_BATCH_H_
#define OOM_FORENSICS_CONVERTER_COMPILED_BLOCK_BATCH_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>

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
  // Of the block at its peak: how many buffers do, of how many, and what they
  // take.
  struct Share {
    size_t buffers = 0;
    size_t of_buffers = 0;
    uint64_t bytes = 0;
  };
  Share ShareOf(const CompiledAllocation& block) const;

 private:
  int64_t size_ = 0;
  // Of the arguments that do not begin with the batch: weights.
  std::set<std::string> fixed_shapes_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_COMPILED_BLOCK_BATCH_H_
