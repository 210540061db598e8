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

  void Buffer(std::string shape) {
    CompiledBuffer buffer;
    buffer.shape = std::move(shape);
    buffer.offset_bytes = block_.size_bytes;
    buffer.size_bytes = 100;
    block_.size_bytes += 100;
    block_.buffers.push_back(std::move(buffer));
  }

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
