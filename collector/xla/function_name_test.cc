#include "collector/xla/function_name.h"

#include "gtest/gtest.h"

namespace oom_forensics::collector {
namespace {

TEST(FunctionName, OfKerasFitIsItsStep) {
  EXPECT_EQ(FunctionNameOf("a_inference_one_step_on_data_3323__.15"),
            "one_step_on_data");
}

TEST(FunctionName, OfACompiledFunctionIsThatOfPython) {
  EXPECT_EQ(FunctionNameOf(
                "a_inference_train_step_1412__XlaMustCompile_true_config_proto_"
                "13561319589895757934_executor_type_11160318154034397263_.15"),
            "train_step");
  EXPECT_EQ(FunctionNameOf("__inference_my__step_2_7__XlaMustCompile_true_.3"),
            "my__step_2");
}

TEST(FunctionName, TellsThePiecesOfAGradient) {
  EXPECT_EQ(FunctionNameOf("a__forward_loss_12__XlaMustCompile_true_.2"),
            "loss (forward)");
  EXPECT_EQ(FunctionNameOf("a__backward_loss_34__XlaMustCompile_true_.2"),
            "loss (backward)");
}

TEST(FunctionName, OfAClusterIsTheCluster) {
  EXPECT_EQ(FunctionNameOf("cluster_3__XlaCompiledKernel_true__"
                           "XlaHasReferenceVars_false__XlaNumConstantArgs_0__"
                           "XlaNumResourceArgs_0_.1"),
            "cluster_3");
}

TEST(FunctionName, OfAnotherFormIsLeftAlone) {
  EXPECT_EQ(FunctionNameOf("jit_f.4"), "jit_f");
  EXPECT_EQ(FunctionNameOf("main"), "main");
  EXPECT_EQ(FunctionNameOf(""), "");
  EXPECT_EQ(FunctionNameOf("forward_pass_2"), "forward_pass_2");
}

}  // namespace
}  // namespace oom_forensics::collector
