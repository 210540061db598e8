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
