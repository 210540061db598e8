#include "converter/forensics/batch_dimension.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

ShapeUse Graph(std::string_view op, std::vector<int64_t> dims,
               uint64_t bytes = 100) {
  return {op, std::move(dims), bytes, false, true};
}

ShapeUse Eager(std::string_view op, std::vector<int64_t> dims,
               uint64_t bytes = 100) {
  return {op, std::move(dims), bytes, false, false};
}

ShapeUse Variable(std::vector<int64_t> dims) {
  return {"AddV2", std::move(dims), 100, true, false};
}

TEST(BatchDimensionTest, TheLastSmallerBatchOfAnEpochShowsIt) {
  const auto batch = BatchDimension::Find(
      {Graph("m/conv/Relu", {24, 30, 30, 16}), Graph("m/dense/Relu", {24, 64}),
       Graph("m/pool/MaxPool", {24, 15, 15, 16}),
       Graph("m/pool/Scratch", {86400}),
       Graph("m/conv/Relu", {16, 30, 30, 16}, 0),
       Graph("m/dense/Relu", {16, 64}, 0),
       Graph("m/pool/MaxPool", {16, 15, 15, 16}, 0),
       Graph("m/pool/Scratch", {57600}, 0), Variable({24, 64})});
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 24);
  EXPECT_EQ(batch->other_size(), 16);
  EXPECT_EQ(batch->varied_ops(), 4u);
  EXPECT_EQ(batch->PositionIn("m/conv/Relu", {24, 30, 30, 16}), 0u);
  EXPECT_EQ(batch->PositionIn("m/pool/Scratch", {86400}), 0u);
  EXPECT_EQ(batch->PositionIn("m/other", {64, 24}), std::nullopt);
  EXPECT_EQ(batch->Evidence(),
            "4 ops were seen with 24 and with 16 in the same place of their "
            "shape.");
}

TEST(BatchDimensionTest, ABatchThatIsNotTheLeadingDimIsFoundWhereItVaries) {
  const auto batch = BatchDimension::Find(
      {Graph("lstm/a", {20, 24, 48}), Graph("lstm/a", {20, 16, 48}),
       Graph("lstm/b", {24, 48}), Graph("lstm/b", {16, 48}),
       Graph("lstm/c", {480, 48}), Graph("lstm/c", {320, 48}),
       Graph("dense", {24, 1}), Graph("dense", {16, 1})});
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 24);
  EXPECT_EQ(batch->PositionIn("lstm/a", {20, 24, 48}), 1u);
  EXPECT_EQ(batch->PositionIn("lstm/c", {480, 48}), 0u);
}

TEST(BatchDimensionTest, TheSizeInUseNowIsTheBatch) {
  const auto batch = BatchDimension::Find(
      {Graph("a", {24, 2}, 0), Graph("b", {24, 3}, 0), Graph("c", {24, 4}, 0),
       Graph("a", {16, 2}, 9), Graph("b", {16, 3}, 9), Graph("c", {16, 4}, 9)});
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 16);
  EXPECT_EQ(batch->other_size(), 24);
}

TEST(BatchDimensionTest, TheSizeOfTheRefusedRequestIsTheBatch) {
  ShapeUse refused = Graph("a", {256, 2}, 0);
  refused.is_refused = true;
  const auto batch = BatchDimension::Find(
      {Graph("a", {32, 2}, 9), Graph("b", {32, 3}, 9), Graph("c", {32}, 9),
       Graph("b", {256, 3}, 0), Graph("c", {256}, 0), refused});
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 256);
}

TEST(BatchDimensionTest, NoAnswerFromKeysOfInitializers) {
  EXPECT_FALSE(BatchDimension::Find(
      {Graph("a/KeyCounter", {1}), Graph("a/KeyCounter", {2}),
       Graph("b/KeyCounter", {1}), Graph("b/KeyCounter", {2}),
       Graph("c/KeyCounter", {1}), Graph("c/KeyCounter", {2})}));
}

TEST(BatchDimensionTest, NoAnswerFromSequencesOfManyLengths) {
  std::vector<ShapeUse> uses;
  for (const int64_t length : {50, 80, 120}) {
    uses.push_back(Graph("lstm/x", {64, length, 16}));
    uses.push_back(Graph("lstm/transpose", {length, 64, 16}));
    uses.push_back(Graph("lstm/stack", {length, 64, 64}));
    uses.push_back(Graph("head", {64, length, 1}));
  }
  EXPECT_FALSE(BatchDimension::Find(uses));
}

TEST(BatchDimensionTest, ASharedLeadingDimThatNoVariableHas) {
  const auto batch = BatchDimension::Find(
      {Eager("Conv2D", {24, 30, 30, 16}), Eager("MatMul", {24, 64}),
       Eager("Relu", {24, 30, 30, 16}), Eager("BiasAddGrad", {64, 3}, 10),
       Variable({3, 3, 3, 16}), Variable({5408, 64})});
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 24);
  EXPECT_EQ(batch->varied_ops(), 0u);
  EXPECT_EQ(batch->PositionIn("MatMul", {24, 10}), 0u);
  EXPECT_EQ(batch->PositionIn("MatMul", {48, 10}), std::nullopt);
  EXPECT_EQ(batch->Evidence(),
            "The shapes of 3 of 4 ops begin with 24, as the examples "
            "of a batch do.");
}

TEST(BatchDimensionTest, NoAnswerWhereAVariableHasTheSameLeadingDim) {
  EXPECT_FALSE(BatchDimension::Find({Eager("A", {64, 2}), Eager("B", {64, 3}),
                                     Eager("C", {64, 4}), Variable({64, 10})}));
}

TEST(BatchDimensionTest, ABatchAsLargeAsALayerIsWideIsThatOfTheInputs) {
  ShapeUse examples = Eager("IteratorGetNext", {1024, 1024});
  ShapeUse labels = Eager("IteratorGetNext", {1024, 1});
  const std::vector<ShapeUse> step = {
      Eager("MatMul", {1024, 1024}), Eager("Relu", {1024, 512}),
      Eager("Sub", {1024, 1}), Variable({1024, 512})};
  EXPECT_FALSE(BatchDimension::Find(step));
  for (ShapeUse* input : {&examples, &labels}) input->is_input = true;
  std::vector<ShapeUse> with_inputs = step;
  with_inputs.insert(with_inputs.end(), {examples, labels});
  const auto batch = BatchDimension::Find(with_inputs);
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 1024);
}

TEST(BatchDimensionTest, TimeThatComesFirstIsNoBatch) {
  EXPECT_FALSE(BatchDimension::Find(
      {Eager("AddV2", {100, 512, 64}), Eager("MatMul", {51200, 256}),
       Eager("Tanh", {100, 512, 256}), Eager("Mul", {100, 512, 32}),
       Variable({64, 256})}));
}

TEST(BatchDimensionTest, EdgesOfAGraphAreNoBatch) {
  ShapeUse gathered = Eager("GatherV2", {34952, 64});
  gathered.is_gathered = true;
  EXPECT_FALSE(BatchDimension::Find(
      {gathered, Eager("ConcatV2", {34952, 128}), Eager("Relu", {34952, 32}),
       Eager("MatMul", {34952, 64}), Variable({128, 64})}));
}

TEST(BatchDimensionTest, AnEmbeddingOfSequencesHasABatch) {
  ShapeUse embedded = Eager("GatherV2", {100, 48, 96});
  embedded.is_gathered = true;
  const auto batch =
      BatchDimension::Find({embedded, Eager("Conv2D", {100, 1, 46, 96}),
                            Eager("Relu", {100, 44, 96}),
                            Eager("MatMul", {100, 96}), Variable({4000, 96})});
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->size(), 100);
}

TEST(BatchDimensionTest, NoAnswerWhereOpsDisagree) {
  EXPECT_FALSE(BatchDimension::Find({Eager("A", {8, 2}), Eager("B", {8, 3}),
                                     Eager("C", {8, 4}), Eager("D", {9, 2}),
                                     Eager("E", {9, 3}), Eager("F", {9, 4})}));
}

TEST(BatchDimensionTest, NoAnswerFromOneShapeOnly) {
  EXPECT_FALSE(
      BatchDimension::Find({Eager("A", {2048, 2048}), Eager("B", {2048, 2048}),
                            Eager("C", {2048, 2048})}));
}

TEST(BatchDimensionTest, NoAnswerWhereTheSharedDimHoldsFewOfTheBytes) {
  EXPECT_FALSE(BatchDimension::Find(
      {Eager("A", {8, 2}, 1), Eager("B", {8, 3}, 1), Eager("C", {8, 4}, 1),
       Eager("D", {512, 512}, 1000)}));
}

TEST(BatchDimensionTest, NothingFromNothing) {
  EXPECT_FALSE(BatchDimension::Find({}));
  EXPECT_FALSE(BatchDimension::Find({Eager("A", {}), Eager("B", {1, 4}),
                                     Eager("C", {-1, 4}), Eager("D", {0, 4})}));
}

}  // namespace
}  // namespace oom_forensics
