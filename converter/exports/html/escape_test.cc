#include "converter/exports/html/escape.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(EscapeHtml, KeepsTextFromBeingMarkup) {
  EXPECT_EQ(EscapeHtml("a</title><b>&amp;"),
            "a&lt;/title&gt;&lt;b&gt;&amp;amp;");
}

TEST(QuoteJson, LeavesNoLessThan) {
  EXPECT_EQ(QuoteJson("</script><!--"), R"("\u003c/script>\u003c!--")");
}

TEST(QuoteJson, EscapesWhatJsonMustEscape) {
  EXPECT_EQ(QuoteJson("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(QuoteJson("größe"), "\"größe\"");
}

TEST(EscapeCode, KeepsCodeFromEndingItsElement) {
  EXPECT_EQ(EscapeCode(R"(x="</script>"+'</STYLE>'+`<!--`;a</b)"),
            R"(x="<\/script>"+'<\/STYLE>'+`<\!--`;a</b)");
}

TEST(EscapeCode, LeavesOtherCodeAlone) {
  EXPECT_EQ(EscapeCode("if(a<b&&c<!d)return '<p></p>'"),
            "if(a<b&&c<!d)return '<p></p>'");
}

}  // namespace
}  // namespace oom_forensics
