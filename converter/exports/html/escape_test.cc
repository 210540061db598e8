#include "converter/exports/html/escape.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(EscapeHtml, KeepsTextFromBeingMarkup) {
  EXPECT_EQ(EscapeHtml("a</title><b>&amp;"),
            "a&lt;/title&gt;&lt;b&gt;&amp;amp;");
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
