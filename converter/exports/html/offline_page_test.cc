#include "converter/exports/html/offline_page.h"

#include <string>

#include "converter/exports/html/page_moments.h"
#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::OpenBytes;
using test::TraceBuilder;

constexpr uint64_t kMib = 1 << 20;

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TraceBuilder AnOom(const std::string& op) {
  TraceBuilder trace;
  trace.BaselineRegion(0x100000, kMib);
  trace.Alloc(0x100000, {op, "[256]", 1, 1024, 0});
  trace.Fail({op, "[1048576]", 1, 4 * kMib, 0}, {true, kMib, ""});
  return trace;
}

TEST(OfflinePage, HoldsTheMomentsOfTheOomThePeakAndTheEnd) {
  auto trace = AnOom("dense/MatMul");
  const auto page = MakeOfflinePage(*trace.Open(), {}, {"code()", "b{}"});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->allocators, 1u);
  EXPECT_EQ(page->stored_allocators, 1u);
  const std::string about = R"("filter":{"host":"host0","allocator":"bfc#0"})";
  EXPECT_EQ(CountOf(page->html, R"("question":{"dataset":"INFO"})"), 1u);
  EXPECT_EQ(CountOf(page->html, R"({"dataset":"OOM_WINDOW",)" + about + "}"),
            1u);
  for (const std::string at :
       {R"("at":{"oom":0})", R"("at":{"peak":true})", R"("at":{"end":true})"}) {
    EXPECT_EQ(CountOf(page->html, R"({"dataset":"FRAGMENTATION",)" + about +
                                      "," + at + "}"),
              1u)
        << at;
    EXPECT_EQ(CountOf(page->html, R"({"dataset":"ALLOCATIONS",)" + about + "," +
                                      at + R"(,"groupBy":"GROUP_SCOPE"})"),
              1u)
        << at;
  }
  // Over time it is the same at every moment.
  EXPECT_EQ(CountOf(page->html, R"({"dataset":"FRAGMENTATION",)" + about + "}"),
            1u);
}

TraceBuilder ALongTraining(int64_t steps) {
  TraceBuilder trace;
  trace.BaselineRegion(0x100000, kMib);
  for (int64_t step = 0; step < steps; ++step) {
    trace.Step(step).Alloc(0x100000, {"op", "[256]", 1, 1024, 0});
    trace.Free(0x100000);
  }
  trace.EndStep();
  return trace;
}

TEST(OfflinePage, HoldsMomentsToGoThroughTheRecordingBy) {
  auto trace = ALongTraining(100);
  const auto page = MakeOfflinePage(*trace.Open(), {}, {"code()", "b{}"});
  ASSERT_TRUE(page.ok()) << page.status();
  const auto moments = [&](const std::string& at) {
    return CountOf(page->html, R"("allocator":"bfc#0","at":{)" + at);
  };
  EXPECT_EQ(moments(R"("step":)"), kMaxStoredSteps);
  EXPECT_EQ(moments(R"("step":"0"})"), 1u) << "the first step";
  EXPECT_EQ(moments(R"("step":"99"})"), 1u) << "the last step";
  // By time and by events: where events come evenly, many are the same.
  EXPECT_GE(moments(R"("timeNs":)"), kMaxStoredSamples / 2);
  EXPECT_LE(moments(R"("timeNs":)"), kMaxStoredSamples);
  EXPECT_EQ(moments(R"("peak":true})"), 1u);
}

TEST(OfflinePage, HoldsFewerMomentsWhereTheyWouldBeTooLarge) {
  auto trace = ALongTraining(100);
  OfflinePageLimits limits;
  limits.moment_bytes = 1;
  const auto page =
      MakeOfflinePage(*trace.Open(), {}, {"code()", "b{}"}, limits);
  ASSERT_TRUE(page.ok()) << page.status();
  // The peak, the end and one more.
  EXPECT_EQ(CountOf(page->html, R"("allocator":"bfc#0","at":{)"), 3u);
  EXPECT_EQ(page->stored_allocators, 1u);
}

TEST(OfflinePage, NothingInATraceOrInTheCodeEndsAScript) {
  auto trace = AnOom("</script><script>alert(1)</script><!--");
  const auto page = MakeOfflinePage(
      *trace.Open(), {}, {"x='</script><script>'", "a{content:'</style>'}"});
  ASSERT_TRUE(page.ok()) << page.status();
  // The two of the page itself; one more "<script" is in a string of the code.
  EXPECT_EQ(CountOf(page->html, "</script"), 2u);
  EXPECT_EQ(CountOf(page->html, "</style"), 1u);
  EXPECT_EQ(CountOf(page->html, "alert(1)"), 0u);
}

TEST(OfflinePage, SaysHowManyAllocatorsItHolds) {
  auto first = AnOom("a");
  auto second = AnOom("b");
  const auto run = OpenBytes({first.Serialize(), second.Serialize()});
  const auto page = MakeOfflinePage(*run, {}, {"code()", "b{}"}, {1});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->allocators, 2u);
  EXPECT_EQ(page->stored_allocators, 0u);
}

TEST(OfflinePage, IsOfTheHostThatTheFilterNames) {
  auto first = AnOom("a");
  auto second = AnOom("b");
  const auto run = OpenBytes({first.Serialize(), second.Serialize()});
  Filter filter;
  filter.set_host("host1");
  const auto page = MakeOfflinePage(*run, filter, {"code()", "b{}"});
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->allocators, 1u);
  filter.set_host("elsewhere");
  EXPECT_FALSE(MakeOfflinePage(*run, filter, {"code()", "b{}"}).ok());
}

}  // namespace
}  // namespace oom_forensics
