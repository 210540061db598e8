#include <cstdint>

#include "converter/testing/fragmented_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::Fragmented;
using test::Get;
using test::kStartNs;
using test::kUnit;
using test::Place;
using test::TraceBuilder;
using ::testing::IsEmpty;

TEST(MemoryTimelineTest, AColumnHoldsTheExtremesOfItsTime) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_columns(1);
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE, query);
  ASSERT_EQ(timeline.series_size(), 1);
  const TimelineSeries& series = timeline.series(0);
  ASSERT_EQ(series.columns_size(), 1);
  EXPECT_EQ(series.columns(0).in_use_min_bytes(), 1 * kUnit);
  EXPECT_EQ(series.columns(0).in_use_max_bytes(), 16 * kUnit);
  EXPECT_EQ(series.columns(0).reserved_max_bytes(), 16 * kUnit);
  EXPECT_EQ(series.columns(0).live_max_count(), 16u);
  EXPECT_EQ(series.columns(0).events(), 23u);
  EXPECT_EQ(series.limit_bytes(), 16 * kUnit);
  EXPECT_EQ(series.peak().in_use_bytes(), 16 * kUnit);
  EXPECT_EQ(series.peak().event(), 14);
  EXPECT_EQ(series.peak().step(), 10);
}

TEST(MemoryTimelineTest, TheAnswersSizeDependsOnTheWidthAlone) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_columns(7);
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE, query);
  EXPECT_EQ(timeline.series(0).columns_size(), 7);
  EXPECT_THAT(timeline.series(0).events(), IsEmpty()) << "23 do not fit in 7";
}

TEST(MemoryTimelineTest, ANarrowRangeShowsSingleEvents) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_columns(100);
  query.mutable_filter()->set_from_ns(kStartNs + 16'000);
  query.mutable_filter()->set_to_ns(kStartNs + 18'000);
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE, query);
  ASSERT_EQ(timeline.series(0).events_size(), 2);
  const TimelineEvent& event = timeline.series(0).events(0);
  EXPECT_EQ(event.kind(), EVENT_FREE);
  EXPECT_EQ(event.address(), Place(2));
  EXPECT_EQ(event.bytes(), kUnit);
  EXPECT_EQ(event.in_use_bytes(), 15 * kUnit);
  EXPECT_EQ(event.op_name(), "StatefulPartitionedCall/model/b/Relu");
}

TEST(MemoryTimelineTest, OomsAndStepsAreMarked) {
  const auto run = Fragmented().Open();
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE);
  const TimelineSeries& series = timeline.series(0);
  ASSERT_EQ(series.marks_size(), 1);
  EXPECT_EQ(series.marks(0).kind(), MARK_OOM);
  EXPECT_EQ(series.marks(0).op_name(), "model/c/Conv2D");
  ASSERT_EQ(series.steps_size(), 2);
  EXPECT_EQ(series.steps(0).step(), 10);
}

TEST(MemoryTimelineTest, AFilterCountsOnlyWhatItKeeps) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_columns(1);
  query.mutable_filter()->set_scope("model/b");
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE, query);
  EXPECT_TRUE(timeline.series(0).filtered());
  EXPECT_EQ(timeline.series(0).columns(0).in_use_max_bytes(), 7 * kUnit);
  EXPECT_EQ(timeline.series(0).columns(0).in_use_min_bytes(), 0u);
}

TEST(MemoryTimelineTest, ContributorsAddUpToWhatIsInUse) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_columns(5);
  query.set_top(1);
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE, query);
  const TimelineSeries& series = timeline.series(0);
  ASSERT_EQ(series.contributors_size(), 2);
  EXPECT_EQ(series.contributors(0).key(), "model/a");
  EXPECT_EQ(series.contributors(1).key(), "(others)");
  for (const TimelineColumn& column : series.columns()) {
    EXPECT_EQ(column.contributor_bytes(0) + column.contributor_bytes(1),
              column.in_use_max_bytes());
  }
}

TEST(MemoryTimelineTest, ContributorsCanBeRoles) {
  TraceBuilder trace;
  trace
      .Alloc(Place(0), {"gradient_tape/model/dense/MatMul/MatMul_1", "[64,10]",
                        1, 3 * kUnit, 0})
      .Alloc(Place(3), {"Cast", "[]", 1, kUnit, 0});
  const auto run = trace.Open();
  Query query;
  query.set_columns(1);
  query.set_top(5);
  query.set_group_by(GROUP_ROLE);
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE, query);
  const TimelineSeries& series = timeline.series(0);
  ASSERT_EQ(series.contributors_size(), 2);
  EXPECT_EQ(series.contributors(0).key(), "gradient");
  EXPECT_EQ(series.contributors(0).max_bytes(), 3 * kUnit);
  EXPECT_EQ(series.contributors(1).key(), "unknown");
}

TEST(MemoryTimelineTest, AnEmptyRangeIsAnEmptyAnswer) {
  const auto run = Fragmented().Open();
  Query query;
  query.mutable_filter()->set_from_ns(50);
  query.mutable_filter()->set_to_ns(10);
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE, query);
  EXPECT_THAT(timeline.series(0).columns(), IsEmpty());
}

TEST(MemoryTimelineTest, TheWholeRangeOfInt64IsARange) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_columns(3);
  query.mutable_filter()->set_from_ns(INT64_MIN);
  query.mutable_filter()->set_to_ns(INT64_MAX);
  const auto timeline = Get<MemoryTimeline>(*run, MEMORY_TIMELINE, query);
  EXPECT_EQ(timeline.series(0).columns_size(), 3);
  EXPECT_EQ(timeline.series(0).peak().in_use_bytes(), 16 * kUnit);
}

}  // namespace
}  // namespace oom_forensics
