#include "core/utf8.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(Utf8Test, LeavesTextAsItIs) {
  EXPECT_TRUE(IsUtf8("größe \xF0\x9F\x98\x80"));
  EXPECT_EQ(ValidUtf8("größe"), "größe");
  EXPECT_EQ(ValidUtf8(""), "");
}

TEST(Utf8Test, ReplacesBytesThatAreNone) {
  // Latin-1, a cut character, an overlong form, a surrogate.
  for (const char* const text : {"gr\xF6\xDF"
                                 "e",
                                 "cut \xC3", "\xC0\xAF", "\xED\xA0\x80"}) {
    EXPECT_FALSE(IsUtf8(text)) << text;
    EXPECT_TRUE(IsUtf8(ValidUtf8(text))) << text;
  }
  EXPECT_EQ(ValidUtf8("gr\xF6"
                      "ber"),
            "gr\xEF\xBF\xBD"
            "ber");
}

TEST(Utf8Test, CutsBetweenCharacters) {
  EXPECT_EQ(Utf8Prefix("größe", 3), "gr");
  EXPECT_EQ(Utf8Prefix("größe", 4), "grö");
  EXPECT_EQ(Utf8Prefix("größe", 40), "größe");
  EXPECT_EQ(Utf8Prefix("\x80\x80\x80\x80\x80\x80\x80", 6).size(), 2);
}

}  // namespace
}  // namespace oom_forensics
