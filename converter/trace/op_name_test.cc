#include "converter/trace/op_name.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(OpNameTest, CallPrefixesAreNotPartOfTheScope) {
  EXPECT_EQ(
      StripCallPrefix("StatefulPartitionedCall/sequential_1/dense/MatMul"),
      "sequential_1/dense/MatMul");
  EXPECT_EQ(StripCallPrefix("PartitionedCall_12/StatefulPartitionedCall_1/Add"),
            "Add");
  EXPECT_EQ(ScopeOf("StatefulPartitionedCall/sequential_1/dense/MatMul"),
            "sequential_1/dense");
  EXPECT_EQ(ScopeOf("MatMul"), "");
}

TEST(OpNameTest, ANameThatOnlyBeginsLikeACallStays) {
  EXPECT_EQ(StripCallPrefix("PartitionedCallback/Add"),
            "PartitionedCallback/Add");
  EXPECT_EQ(StripCallPrefix("PartitionedCall_x/Add"), "PartitionedCall_x/Add");
}

// Names as TensorFlow 2.15 to 2.21 gives them to ops of Keras models.
TEST(OpNameTest, AGradientIsInTheScopeOfItsLayer) {
  const std::string_view keras =
      "StatefulPartitionedCall/gradient_tape/sequential_1/dense_1/MatMul/"
      "MatMul_1";
  EXPECT_TRUE(IsGradientName(keras));
  EXPECT_EQ(LayerPath(keras), "sequential_1/dense_1/MatMul/MatMul_1");
  EXPECT_EQ(ScopeOf(keras), "sequential_1/dense_1");
  EXPECT_EQ(OpTypeOf(keras), "MatMul");
  EXPECT_EQ(
      ScopeOf(
          "gradient_tape/sequential/batch_normalization/batchnorm/mul_1/Mul_1"),
      "sequential/batch_normalization/batchnorm");
  EXPECT_EQ(ScopeOf("gradient_tape/sequential/flatten/Shape"),
            "sequential/flatten");
  EXPECT_EQ(ScopeOf("gradient_tape/MatMul/MatMul_1"), "");
  // Layers whose names someone chose.
  EXPECT_EQ(ScopeOf("gradient_tape/Net/Encoder/ReluGrad"), "Net/Encoder");
  EXPECT_EQ(ScopeOf("gradient_tape/Encoder_1/MatMul_2/MatMul_1"), "Encoder_1");
  EXPECT_TRUE(IsInScope(keras, "sequential_1/dense_1"));
  EXPECT_FALSE(IsGradientName("sequential_1/gradient_tapes/MatMul"));
}

TEST(OpNameTest, OpsOfALoopAreInTheScopeOfTheirLayer) {
  EXPECT_EQ(
      ScopeOf("StatefulPartitionedCall/sequential_1/lstm_1/while/body/_36/"
              "sequential_1/lstm_1/while/lstm_cell_1/MatMul"),
      "sequential_1/lstm_1/while/lstm_cell_1");
  const std::string_view gradient =
      "StatefulPartitionedCall/gradient_tape/sequential_1/lstm_1/while/"
      "sequential_1/lstm_1/while_grad/body/_497/gradient_tape/sequential_1/"
      "lstm_1/while/gradients/sequential_1/lstm_1/while/lstm_cell_1/"
      "MatMul_grad/MatMul";
  EXPECT_TRUE(IsGradientName(gradient));
  EXPECT_EQ(ScopeOf(gradient), "sequential_1/lstm_1/while/lstm_cell_1");
}

TEST(OpNameTest, PassesOfTheGraphOptimizerAreNotPartOfTheScope) {
  EXPECT_EQ(
      ScopeOf("ConstantFolding/StatefulPartitionedCall/compile_loss/mse/Mean"),
      "compile_loss/mse");
  EXPECT_EQ(ScopeOf("ArithmeticOptimizer/ArithmeticOptimizer/Cast_3"), "");
}

TEST(OpNameTest, TheVariableThatTheGraphOptimizerAddsUpInIsOfItsSum) {
  EXPECT_EQ(ScopeOf("StatefulPartitionedCall/AddN_1/tmp_var_zeros"), "");
  EXPECT_EQ(LayerPath("StatefulPartitionedCall/AddN_1/tmp_var_zeros"),
            "AddN_1");
  EXPECT_EQ(ScopeOf("replica_1/add_1/AddN/tmp_var"), "add_1");
  EXPECT_EQ(ScopeOf("tmp_var"), "");
  EXPECT_EQ(ScopeOf("dense/tmp_variance"), "dense");
}

TEST(OpNameTest, TheReplicaStandsBeforeTheLayerWhereverTheOpIs) {
  for (const std::string_view name :
       {"replica_1/net/dense/MatMul",
        "StatefulPartitionedCall/replica_1/net/dense/MatMul",
        "gradient_tape/replica_1/net/dense/MatMul/MatMul_1",
        "replica_1/gradient_tape/net/dense/MatMul/MatMul_1",
        "while/body/_3/replica_1/gradient_tape/net/dense/ReluGrad"}) {
    EXPECT_EQ(ReplicaOf(name), "replica_1") << name;
    EXPECT_EQ(ScopeOf(name), "net/dense") << name;
  }
  EXPECT_EQ(ReplicaOf("replica_12/MatMul"), "replica_12");
  for (const std::string_view name :
       {"net/dense/MatMul", "replica_1", "replica_of_1/MatMul",
        "net/replica_1/MatMul", ""}) {
    EXPECT_EQ(ReplicaOf(name), "") << name;
  }
}

TEST(OpNameTest, ANumberedScopeThatIsNoBodyStays) {
  EXPECT_EQ(ScopeOf("range/_0__cf__0"), "range");
  EXPECT_EQ(ScopeOf("model/block/_3/MatMul"), "model/block/_3");
}

TEST(OpNameTest, OpTypeIsTheLastPartWithoutItsNumber) {
  EXPECT_EQ(OpTypeOf("a/b/MatMul_2"), "MatMul");
  EXPECT_EQ(OpTypeOf("Conv2D"), "Conv2D");
  EXPECT_EQ(OpTypeOf("_1"), "_1");
  EXPECT_EQ(OpTypeOf(""), "");
}

TEST(OpNameTest, ScopeMatchesWholePartsOnly) {
  EXPECT_TRUE(IsInScope("StatefulPartitionedCall/model/dense/MatMul", "model"));
  EXPECT_TRUE(IsInScope("model/dense/MatMul", "model/dense/"));
  EXPECT_TRUE(IsInScope("model/dense", "model/dense"));
  EXPECT_FALSE(IsInScope("model/dense_1/MatMul", "model/dense"));
  EXPECT_TRUE(IsInScope("anything", ""));
}

}  // namespace
}  // namespace oom_forensics
