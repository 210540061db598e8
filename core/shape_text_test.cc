#include "core/shape_text.h"

#include <gtest/gtest.h>

namespace oom_forensics {
namespace {

TEST(ShapeTextTest, ADimensionOfZeroLeavesNoElements) {
  EXPECT_TRUE(HasNoElements("[0]"));
  EXPECT_TRUE(HasNoElements("[8,0,32]"));
  EXPECT_FALSE(HasNoElements("[10,20]"));
  EXPECT_FALSE(HasNoElements("[]"));
  EXPECT_FALSE(HasNoElements(""));
}

}  // namespace
}  // namespace oom_forensics
