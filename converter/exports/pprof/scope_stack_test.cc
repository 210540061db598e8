#include "converter/exports/pprof/scope_stack.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using ::testing::ElementsAre;

TEST(ScopeStack, IsTheOpThenItsScopesFromTheInside) {
  EXPECT_THAT(ScopeStack("StatefulPartitionedCall/model/dense_1/MatMul"),
              ElementsAre("model/dense_1/MatMul", "model/dense_1", "model"));
}

TEST(ScopeStack, PutsAGradientUnderTheLayerThatItIsOf) {
  EXPECT_THAT(
      ScopeStack("PartitionedCall/gradient_tape/model/dense_1/MatMul/MatMul_1"),
      ElementsAre("model/dense_1/MatMul/MatMul_1", "model/dense_1", "model"));
}

TEST(ScopeStack, OfAnEagerOpIsTheOp) {
  EXPECT_THAT(ScopeStack("MatMul"), ElementsAre("MatMul"));
}

TEST(ScopeStack, OfNoOpSaysSo) {
  EXPECT_THAT(ScopeStack(""), ElementsAre("(no op recorded)"));
}

TEST(ScopeStack, EndsWhereAPathBeginsWithASlash) {
  EXPECT_THAT(ScopeStack("/odd//name"),
              ElementsAre("/odd//name", "/odd/", "/odd"));
}

}  // namespace
}  // namespace oom_forensics
