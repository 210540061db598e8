#include "core/bfc.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(BfcTest, RequestsAreRoundedUpToMultiplesOf256) {
  EXPECT_EQ(RoundedBytes(0), 0u);
  EXPECT_EQ(RoundedBytes(1), 256u);
  EXPECT_EQ(RoundedBytes(256), 256u);
  EXPECT_EQ(RoundedBytes(257), 512u);
  EXPECT_EQ(RoundedBytes(UINT64_MAX), UINT64_MAX - 255) << "saturates";
}

TEST(BfcTest, EachBinBeginsWhereTheOneBeforeEnds) {
  EXPECT_EQ(BinOf(0), 0u);
  for (uint32_t bin = 1; bin < kBinCount; ++bin) {
    EXPECT_EQ(BinOf(MinBytesOfBin(bin)), bin);
    EXPECT_EQ(BinOf(MinBytesOfBin(bin) - 1), bin - 1);
  }
  EXPECT_EQ(BinOf(UINT64_MAX), kBinCount - 1);
}

TEST(BfcTest, AChunkIsSplitAtTwiceTheRequestOrWhereMuchWouldBeWasted) {
  EXPECT_FALSE(IsSplit(1024, 768));
  EXPECT_TRUE(IsSplit(1024, 512));
  constexpr uint64_t kLarge = uint64_t{1} << 30;
  EXPECT_FALSE(IsSplit(kLarge + kMaxUnsplitRestBytes - 256, kLarge));
  EXPECT_TRUE(IsSplit(kLarge + kMaxUnsplitRestBytes, kLarge));
}

}  // namespace
}  // namespace oom_forensics
