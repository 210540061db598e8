#include "core/size_text.h"

#include <cstdint>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

// The tab's texts are held against the same table (frontend/src/format).
TEST(SizeTextTest, BytesHaveThreeDigitsOrMoreInTheirUnit) {
  std::ifstream table("core/size_texts.csv");
  int lines = 0;
  for (std::string line; std::getline(table, line); ++lines) {
    const size_t comma = line.find(',');
    ASSERT_NE(comma, std::string::npos) << line;
    EXPECT_EQ(FormatBytes(std::stoull(line.substr(0, comma))),
              line.substr(comma + 1));
  }
  EXPECT_GT(lines, 10);
}

TEST(SizeTextTest, CountsAreGroupedByThousands) {
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(CountOf(1, "tensor"), "1 tensor");
  EXPECT_EQ(CountOf(1234, "tensor"), "1,234 tensors");
}

}  // namespace
}  // namespace oom_forensics
