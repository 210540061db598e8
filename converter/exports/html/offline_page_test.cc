#include "converter/exports/html/offline_page.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

const FrontendFiles kFrontend = {"code()", "b{}", "work()", "module"};

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

std::string WriteTrace(const std::string& name) {
  const auto path = std::filesystem::path(::testing::TempDir()) / name;
  std::ofstream(path, std::ios::binary) << "bytes of " << name;
  return path;
}

TEST(OfflinePage, HoldsTheTracesOfItsRunsByHost) {
  OfflinePage page;
  page.title = "a run";
  page.runs = {
      {"train", {WriteTrace("a.xplane.pb"), WriteTrace("b.xplane.pb")}},
      {"other", {WriteTrace("c.xplane.pb")}}};
  const auto html = RenderOfflinePage(page, kFrontend);
  ASSERT_TRUE(html.ok()) << html.status();
  EXPECT_EQ(
      CountOf(*html,
              R"({"run":"train","files":[{"name":"a.xplane.pb","element":)"
              R"("trace-0-0"},{"name":"b.xplane.pb","element":"trace-0-1"}]},)"
              R"({"run":"other","files":[{"name":"c.xplane.pb","element":)"
              R"("trace-1-0"}]})"),
      1u);
  for (const char* id : {"trace-0-0", "trace-0-1", "trace-1-0"}) {
    EXPECT_EQ(CountOf(*html, std::string("id=\"") + id + "\">"), 1u) << id;
  }
}

TEST(OfflinePage, RunsItsOwnCodeAndReachesNothing) {
  const auto html = RenderOfflinePage({"viewer", {}, false}, kFrontend);
  ASSERT_TRUE(html.ok()) << html.status();
  EXPECT_EQ(CountOf(*html, "default-src 'none'"), 1u);
  EXPECT_EQ(CountOf(*html, "connect-src"), 0u);
  EXPECT_EQ(CountOf(*html, "\"runs\":[]"), 1u);
  const size_t begin = html->find("'nonce-") + 7;
  const std::string nonce =
      html->substr(begin, html->find('\'', begin) - begin);
  EXPECT_GE(nonce.size(), 32u);
  EXPECT_EQ(CountOf(*html, "nonce=\"" + nonce + "\""), 1u);
}

TEST(OfflinePage, NoNameEndsTheElementThatItLiesIn) {
  OfflinePage page;
  page.title = "</title><script>x()</script>";
  page.runs = {{"</script><script>x()", {WriteTrace("d.xplane.pb")}}};
  const auto html = RenderOfflinePage(page, kFrontend);
  ASSERT_TRUE(html.ok()) << html.status();
  EXPECT_EQ(CountOf(*html, "x()</script>"), 0u);
  EXPECT_EQ(CountOf(*html, "<script>"), 0u);
}

TEST(OfflinePage, ATraceThatIsGoneIsASentence) {
  const auto html =
      RenderOfflinePage({"run", {{"run", {"/nonexistent"}}}, false}, kFrontend);
  EXPECT_NE(std::string(html.status().message()).find("/nonexistent"),
            std::string::npos);
}

}  // namespace
}  // namespace oom_forensics
