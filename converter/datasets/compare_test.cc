// Two moments or two runs side by side: what grew, what went, what is new, and
// which of the two failed, in the first lines.
#include <memory>
#include <string>
#include <vector>

#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::TraceBuilder;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kBase = 0x10000000;

Compare CompareRuns(const Run& first, const Run* second, Query query) {
  query.set_dataset(COMPARE);
  auto answer = AnswerQuery({first, second, query});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? static_cast<const Compare&>(**answer) : Compare();
}

std::vector<std::string> Lines(const Compare& compare) {
  return {compare.summary().begin(), compare.summary().end()};
}

const CompareRow* RowOf(const Compare& compare, const std::string& key) {
  for (const CompareRow& row : compare.rows()) {
    if (row.key() == key) return &row;
  }
  return nullptr;
}

// A step of a model that keeps its weights and an activation of that shape.
TraceBuilder Model(const std::string& activation_shape, int64_t dtype,
                   uint64_t activation_mib) {
  TraceBuilder trace;
  trace.BaselineRegion(kBase, 16 * kMiB)
      .AllocatorStat(test::U64("bytes_limit", 16 * kMiB))
      .Step(0)
      .Alloc(kBase, {"dense/weights", "[2]", 1, 2 * kMiB, 0})
      .Alloc(kBase + 2 * kMiB,
             {"dense/Relu", activation_shape, dtype, activation_mib * kMiB, 0});
  return trace;
}

TEST(CompareTest, AHealthyAndAFailingRunAreToldApartInTheFirstLines) {
  auto healthy_trace = Model("[8,4]", 1, 4);
  auto failing_trace = Model("[16,4]", 2, 12);
  failing_trace.Fail({"dense/MatMul", "[16,4]", 2, 12 * kMiB, 0},
                     {true, 16 * kMiB, ""});
  const auto healthy = healthy_trace.EndStep().Open();
  const auto failing = failing_trace.EndStep().Open();
  const auto compare = CompareRuns(*healthy, failing.get(), Query());
  const std::vector<std::string> lines = Lines(compare);
  ASSERT_GE(lines.size(), 5u);
  EXPECT_EQ(
      lines[0],
      "The first did not run out of memory: 6.00 MiB in use of 16.0 MiB.");
  EXPECT_EQ(lines[1],
            "The second ran out of memory 1 time: 14.0 MiB in use of 16.0 "
            "MiB.");
  EXPECT_EQ(lines[2],
            "The second holds 8.00 MiB more than the first: 6.00 MiB and 14.0 "
            "MiB.");
  EXPECT_THAT(lines[3], HasSubstr("more in float64: 12.0 MiB of 14.0 MiB"));
  EXPECT_THAT(lines[4], HasSubstr("other shapes in the second (dense/Relu: "
                                  "[8,4] and [16,4])"));
}

TEST(CompareTest, SitesGrowShrinkComeAndGo) {
  TraceBuilder trace;
  trace.Region(kBase, 16 * kMiB)
      .Alloc(kBase, {"grows", "", 1, kMiB, 0})
      .Alloc(kBase + kMiB, {"shrinks", "", 1, kMiB, 0})
      .Alloc(kBase + 2 * kMiB, {"shrinks", "", 1, kMiB, 0})
      .Alloc(kBase + 3 * kMiB, {"goes", "", 1, kMiB, 0})
      .Alloc(kBase + 4 * kMiB, {"stays", "", 1, kMiB, 0})
      .Alloc(kBase + 5 * kMiB, {"grows", "", 1, kMiB, 0})
      .Free(kBase + 2 * kMiB)
      .Free(kBase + 3 * kMiB)
      .Alloc(kBase + 6 * kMiB, {"comes", "", 1, 3 * kMiB, 0});
  const auto run = trace.Open();
  Query query;
  query.set_group_by(GROUP_OP);
  *query.mutable_at() = *ParseMoment("event:5");
  query.mutable_other()->set_end(true);
  const auto compare = CompareRuns(*run, nullptr, query);
  EXPECT_EQ(compare.rows(0).key(), "comes") << "the largest change first";
  EXPECT_EQ(RowOf(compare, "comes")->change(), "new");
  EXPECT_EQ(RowOf(compare, "comes")->delta_bytes(), 3 * int64_t{kMiB});
  EXPECT_EQ(RowOf(compare, "goes")->change(), "gone");
  EXPECT_EQ(RowOf(compare, "grows")->change(), "grew");
  EXPECT_EQ(RowOf(compare, "grows")->after_count(), 2u);
  EXPECT_EQ(RowOf(compare, "shrinks")->change(), "shrank");
  EXPECT_EQ(RowOf(compare, "shrinks")->delta_bytes(), -int64_t{kMiB});
  EXPECT_EQ(RowOf(compare, "stays")->change(), "same");
  EXPECT_EQ(compare.before().in_use_bytes(), 5 * kMiB);
  EXPECT_EQ(compare.after().in_use_bytes(), 7 * kMiB);
  EXPECT_THAT(Lines(compare), Contains(HasSubstr("comes: 3.00 MiB more (0 and "
                                                 "1 tensor)")));
}

TEST(CompareTest, OneRunIsComparedFromItsFirstStepToItsOom) {
  TraceBuilder trace;
  trace.Region(kBase, 4 * kMiB).Step(1).Alloc(kBase, {"a", "", 1, kMiB, 0});
  trace.Step(2).Alloc(kBase + kMiB, {"b", "", 1, kMiB, 0});
  trace.Fail({"c", "", 1, 8 * kMiB, 0}, {true, 4 * kMiB, ""}).EndStep();
  const auto run = trace.Open();
  const auto compare = CompareRuns(*run, nullptr, Query());
  EXPECT_EQ(compare.before().live_count(), 1u);
  EXPECT_EQ(compare.after().live_count(), 2u);
}

TEST(CompareTest, ARunOfAnotherHostIsComparedAllTheSame) {
  const auto first = Model("[8,4]", 1, 4).EndStep().Open();
  const auto second = Model("[8,4]", 1, 4).EndStep().Open();
  Query query;
  query.mutable_filter()->set_host("host0");
  const auto compare = CompareRuns(*first, second.get(), query);
  EXPECT_THAT(Lines(compare), Contains("Both hold 6.00 MiB."));
}

}  // namespace
}  // namespace oom_forensics
