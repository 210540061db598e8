#include "converter/compiled/block_batch.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace oom_forensics {
namespace {

CompiledAllocation Allocation(BufferKind kind, int64_t index) {
  CompiledAllocation allocation;
  allocation.kind = kind;
  allocation.index = index;
  return allocation;
}

// A step with arguments, and buffers of 100 bytes in its temporary block.
class Step {
 public:
  void Argument(std::string shape, bool is_written_over) {
    const auto index = static_cast<int64_t>(module_.allocations.size());
    CompiledAllocation argument = Allocation(BufferKind::kParameter, index);
    CompiledBuffer buffer;
    buffer.shape = std::move(shape);
    argument.buffers.push_back(std::move(buffer));
    module_.allocations.push_back(std::move(argument));
    if (is_written_over) {
      module_.fresh_results.push_back(Allocation(BufferKind::kOutput, index));
    }
  }

  void Buffer(std::string shape, bool held_for_backward = false) {
    CompiledBuffer buffer;
    buffer.held_for_backward = held_for_backward;
    buffer.shape = std::move(shape);
    buffer.offset_bytes = block_.size_bytes;
    buffer.size_bytes = 100;
    block_.size_bytes += 100;
    block_.buffers.push_back(std::move(buffer));
  }

  // Lives after all others, in a place of theirs.
  void LaterBuffer(std::string shape, uint64_t offset_bytes) {
    CompiledBuffer buffer;
    buffer.shape = std::move(shape);
    buffer.offset_bytes = offset_bytes;
    buffer.size_bytes = 100;
    buffer.live = {1, 1};
    block_.buffers.push_back(std::move(buffer));
  }

  const CompiledModule& module() const { return module_; }
  const CompiledAllocation& block() const { return block_; }
  std::optional<BlockBatch> Find() const {
    return BlockBatch::Find(module_, block_);
  }
  BlockBatch::Share ShareOf(const BlockBatch& batch) const {
    return batch.ShareOf(block_);
  }

 private:
  CompiledModule module_;
  CompiledAllocation block_;
};

TEST(BlockBatchTest, IsTheDimOfAnArgumentThatTheBufferShapesAreMultiplesOf) {
  Step step;
  step.Argument("[16,384]", false);
  step.Argument("[256,1024]", true);
  step.Buffer("[16,384,1024]");
  // XLA merged the two leading dims.
  step.Buffer("[6144,256]");
  // The gradient of the weight.
  step.Buffer("[256,1024]");
  const auto batch = step.Find();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->size(), 16);
  const BlockBatch::Share share = step.ShareOf(*batch);
  EXPECT_EQ(share.buffers, 2u);
  EXPECT_EQ(share.of_buffers, 3u);
  EXPECT_EQ(share.bytes, 200u);
}

TEST(BlockBatchTest, OfSizesThatFitAlikeIsTheLargest) {
  Step step;
  step.Argument("[512,32]", false);
  step.Argument("[64]", false);
  step.Buffer("[512,32]");
  step.Buffer("[512,64]");
  const auto batch = step.Find();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->size(), 512);
}

TEST(BlockBatchTest, StandsBehindTheRoundsOfALoop) {
  Step step;
  step.Argument("[512,100]", false);
  step.Argument("[128,512]", true);
  step.Buffer("[100,512,128]");
  step.Buffer("[128,512]");
  const auto batch = step.Find();
  ASSERT_TRUE(batch.has_value());
  EXPECT_EQ(batch->size(), 512);
  EXPECT_EQ(step.ShareOf(*batch).bytes, 100u) << "not the weight's gradient";
}

// A ConvLSTM of 8 frames with kernels of 5 x 5, at a batch of 5.
TEST(BlockBatchTest, WhatMayBeAWeightIsNotSureToShrink) {
  Step step;
  step.Argument("[5,8,24,24,1]", false);
  step.Argument("[5,5,16,64]", true);
  step.Buffer("[5,24,24,16]");
  // The kernel of one of its gates, and the gradients of those of all rounds.
  step.Buffer("[5,5,16,16]");
  step.Buffer("[8,5,5,16,16]");
  // The gradient of the kernel, as it is and with its dims in another order.
  step.Buffer("[5,5,16,64]");
  step.Buffer("[5,5,64,16]");
  const BlockBatch::Share share = step.ShareOf(BlockBatch(step.module(), 5));
  EXPECT_EQ(share.bytes, 500u);
  EXPECT_EQ(share.sure_bytes, 100u);
}

TEST(BlockBatchTest, WhatIsHeldForTheBackwardPassIsNoGradientOfAWeight) {
  Step step;
  step.Argument("[64,64]", false);
  step.Argument("[64,64]", true);
  step.Buffer("[64,64]");
  step.Buffer("[64,64]", /*held_for_backward=*/true);
  const BlockBatch::Share share = step.ShareOf(BlockBatch(step.module(), 64));
  EXPECT_EQ(share.bytes, 200u);
  EXPECT_EQ(share.sure_bytes, 100u);
}

TEST(BlockBatchTest, TheLeastOfABlockIsOfWhereMostDoesNotShrink) {
  Step step;
  step.Argument("[512,32]", false);
  step.Argument("[256,64]", true);
  step.Buffer("[512,64]");
  step.Buffer("[30]");
  // Once the activation is gone, two gradients lie in its place.
  step.LaterBuffer("[256,64]", 0);
  step.LaterBuffer("[40]", 100);
  const BlockBatch batch(step.module(), 512);
  EXPECT_EQ(step.ShareOf(batch).bytes, 100u);
  EXPECT_EQ(batch.LeastBytesOf(step.block(), /*surely=*/true), 200u);
}

TEST(BlockBatchTest, IsNotKnownWhereTheBlockDoesNotShowIt) {
  Step step;
  step.Argument("[512,32]", false);
  step.Buffer("[100,100]");
  step.Buffer("[30]");
  step.Buffer("[512]");
  EXPECT_FALSE(step.Find().has_value());
}

}  // namespace
}  // namespace oom_forensics
