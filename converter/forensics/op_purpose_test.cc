#include "converter/forensics/op_purpose.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

// An output of rank 2; names are as TensorFlow 2.15, 2.18 and 2.21 record them.
OpPurpose OfOutput(std::string_view name, bool eager = false) {
  return PurposeOf(name, {"output", "float32", true, 2, eager});
}

OpPurpose OfTemp(std::string_view name) {
  return PurposeOf(name, {"temp", "float32", true, 2, false});
}

TEST(OpPurposeTest, ForwardOpsAreThoseInTheScopeOfALayer) {
  EXPECT_EQ(OfOutput("StatefulPartitionedCall/sequential_1/dense_1/Relu"),
            OpPurpose::kForward);
  EXPECT_EQ(OfOutput("StatefulPartitionedCall/compile_loss/mse/Square"),
            OpPurpose::kForward);
  EXPECT_EQ(OfOutput("compile_loss/ArithmeticOptimizer/ReorderCast_Cast"),
            OpPurpose::kForward)
      << "TensorFlow's optimizer of graphs";
  EXPECT_EQ(OfOutput("MatMul"), OpPurpose::kUnknown);
  // The zeros that a sum of gradients begins with.
  EXPECT_EQ(OfOutput("AddN_1/tmp_var_zeros"), OpPurpose::kUnknown);
  EXPECT_EQ(OfOutput("MatMul", /*eager=*/true), OpPurpose::kUnknown);
}

TEST(OpPurposeTest, GradientsOfTapesAndOfEagerOps) {
  EXPECT_EQ(
      OfOutput("StatefulPartitionedCall/gradient_tape/sequential_1/dense_1/"
               "MatMul/MatMul_1"),
      OpPurpose::kGradient);
  EXPECT_EQ(OfOutput("gradients/dense/MatMul_grad/MatMul"),
            OpPurpose::kGradient);
  EXPECT_EQ(OfOutput("_MklNativeConv2DBackpropFilter", /*eager=*/true),
            OpPurpose::kGradient);
  EXPECT_EQ(OfOutput("ReluGrad", /*eager=*/true), OpPurpose::kGradient);
}

TEST(OpPurposeTest, OptimizersAreTheScopesThatKerasGivesThem) {
  EXPECT_EQ(OfOutput("adam/sequential_dense_kernel_momentum/Initializer/zeros"),
            OpPurpose::kOptimizerSlot);
  EXPECT_EQ(OfOutput("StatefulPartitionedCall/adam/Square_6"),
            OpPurpose::kOptimizerUpdate);
  EXPECT_EQ(OfOutput("Adam/Sqrt_13"), OpPurpose::kOptimizerUpdate);
  EXPECT_EQ(OfOutput("adam_1/Square"), OpPurpose::kOptimizerUpdate);
  EXPECT_EQ(OfTemp("StatefulPartitionedCall/adam/AssignAddVariableOp_3"),
            OpPurpose::kOptimizerUpdate);
  EXPECT_EQ(OfTemp("StatefulPartitionedCall/adam/AssignSubVariableOp_1"),
            OpPurpose::kVariableUpdate);
  EXPECT_EQ(OfOutput("Call/loss_scale_optimizer/cond/adam/Square_6"),
            OpPurpose::kOptimizerUpdate);
  EXPECT_EQ(OfOutput("my_optimizer/Square"), OpPurpose::kOptimizerUpdate);
  EXPECT_EQ(OfOutput("my_adam_1/Square"), OpPurpose::kOptimizerUpdate);
  EXPECT_EQ(OfOutput("cond/then/_0/cond/my_rule/update_1_2/Square"),
            OpPurpose::kOptimizerUpdate);
  EXPECT_EQ(OfOutput("Net/update_gate/Sigmoid"), OpPurpose::kForward);
  EXPECT_EQ(OfOutput("adamant/dense/Relu"), OpPurpose::kForward);
}

TEST(OpPurposeTest, AnOptimizerIsWhatTheProgramSaysIsOne) {
  RequestKind kind{"output", "float32", true, 2, false};
  kind.of_optimizer = true;
  EXPECT_EQ(PurposeOf("StatefulPartitionedCall/damped/mul_3", kind),
            OpPurpose::kOptimizerUpdate);
  kind.region_type = "temp";
  EXPECT_EQ(
      PurposeOf("StatefulPartitionedCall/damped/AssignSubVariableOp_1", kind),
      OpPurpose::kVariableUpdate);
}

TEST(OpPurposeTest, VariablesAreTheirInitializersAndTheirOps) {
  EXPECT_EQ(OfOutput("dense/kernel/Initializer/random_uniform"),
            OpPurpose::kVariable);
  EXPECT_EQ(OfTemp("VarHandleOp"), OpPurpose::kVariable);
  EXPECT_EQ(OfTemp("AssignVariableOp_4"), OpPurpose::kVariable);
  EXPECT_EQ(OfOutput("model/dense/MatMul/ReadVariableOp"),
            OpPurpose::kVariable);
}

TEST(OpPurposeTest, InputIsWhatDatasetsAndIteratorsMake) {
  EXPECT_EQ(OfOutput("IteratorGetNext"), OpPurpose::kInput);
  EXPECT_EQ(OfOutput("ParallelMapDatasetV2"), OpPurpose::kInput);
  EXPECT_EQ(OfOutput("TensorSliceDataset"), OpPurpose::kInput);
  EXPECT_EQ(OfOutput("AnonymousIteratorV3"), OpPurpose::kInput);
  EXPECT_EQ(OfOutput("MakeIterator"), OpPurpose::kInput);
  EXPECT_EQ(OfOutput("MultiDeviceIteratorGetNextFromShard/shard_num"),
            OpPurpose::kInput);
}

TEST(OpPurposeTest, ScratchSpaceIsWorkspaceButTheResultOfAReductionIsNot) {
  EXPECT_EQ(PurposeOf("StatefulPartitionedCall/sequential_1/conv2d_1/Relu",
                      {"temp", "uint8", true, 1, false}),
            OpPurpose::kWorkspace);
  EXPECT_EQ(OfTemp("sequential_1/pool/MaxPoolGrad"), OpPurpose::kWorkspace);
  EXPECT_EQ(OfTemp("sequential_1/norm/moments/Mean"), OpPurpose::kForward);
}

TEST(OpPurposeTest, NoNameSaysNothing) {
  EXPECT_EQ(OfOutput(""), OpPurpose::kUnknown);
  EXPECT_EQ(OfOutput("(null)"), OpPurpose::kUnknown);
}

}  // namespace
}  // namespace oom_forensics
