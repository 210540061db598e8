#include "core/json_text.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(JsonTextTest, EscapesWhatJsonMustEscape) {
  EXPECT_EQ(QuoteJson("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(QuoteJson("größe"), "\"größe\"");
  EXPECT_EQ(QuoteJson("gr\xF6\xDF"), "\"gr\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonTextTest, LeavesNoLessThan) {
  EXPECT_EQ(QuoteJson("</script><!--"), R"("\u003c/script>\u003c!--")");
}

}  // namespace
}  // namespace oom_forensics
