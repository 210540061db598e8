#include "converter/command/values.h"

#include <gtest/gtest.h>

namespace oom_forensics {
namespace {

TEST(ParseBytes, TakesPlainNumbersAndUnits) {
  EXPECT_EQ(ParseBytes("0"), 0);
  EXPECT_EQ(ParseBytes("18446744073709551615"), 18446744073709551615u);
  EXPECT_EQ(ParseBytes("1MiB"), 1048576);
  EXPECT_EQ(ParseBytes("1.5 GiB"), 1610612736);
  EXPECT_EQ(ParseBytes("2GB"), 2000000000);
  EXPECT_EQ(ParseBytes("12B"), 12);
}

TEST(ParseBytes, RefusesWhatIsNoSize) {
  for (const char* text :
       {"", "MiB", "-1", "-1MiB", "1 Mibi", "nanMiB", "99999999TiB"}) {
    EXPECT_EQ(ParseBytes(text), std::nullopt) << text;
  }
}

TEST(ParseTimeNs, TakesWhatReportsPrint) {
  constexpr int64_t kTime = 1795307612500000000;
  EXPECT_EQ(ParseTimeNs("1795307612500000000"), kTime);
  EXPECT_EQ(ParseTimeNs("2026-11-22 00:33:32.500000 UTC"), kTime);
  EXPECT_EQ(ParseTimeNs("2026-11-22 00:33:32.5"), kTime);
  EXPECT_EQ(ParseTimeNs("2026-11-22T00:33:32.5Z"), kTime);
  EXPECT_EQ(ParseTimeNs("2026-11-22T02:33:32.5+02:00"), kTime);
}

TEST(ParseTimeNs, RefusesWhatIsNoTime) {
  for (const char* text : {"", "noon", "2026-11-22", "2026-13-22 00:00:00"}) {
    EXPECT_EQ(ParseTimeNs(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace oom_forensics
