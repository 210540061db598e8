#include "core/size_text.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(SizeTextTest, BytesHaveThreeDigitsOrMoreInTheirUnit) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes(1034), "1.01 KiB");
  EXPECT_EQ(FormatBytes(uint64_t{64} << 20), "64.0 MiB");
  EXPECT_EQ(FormatBytes(uint64_t{3} << 40), "3.00 TiB");
  EXPECT_EQ(FormatBytes(UINT64_MAX), "16.0 EiB");
}

TEST(SizeTextTest, BytesChangeTheirUnitAsTheyArePrinted) {
  EXPECT_EQ(FormatBytes((uint64_t{1} << 20) - 1), "1.00 MiB");
}

TEST(SizeTextTest, CountsAreGroupedByThousands) {
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(CountOf(1, "tensor"), "1 tensor");
  EXPECT_EQ(CountOf(1234, "tensor"), "1,234 tensors");
}

}  // namespace
}  // namespace oom_forensics
