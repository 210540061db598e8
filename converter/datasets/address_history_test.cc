// The map over time: rectangles for what can be seen, shades for the rest, and
// a size that the picture sets, not the trace.
#include "converter/datasets/dataset.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::kStartNs;
using test::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kPool = 0x10000;
constexpr uint64_t kUnit = 256;

uint64_t Place(uint64_t unit) { return kPool + unit * kUnit; }

AddressHistory Get(const Run& run, Query query) {
  query.set_dataset(ADDRESS_HISTORY);
  auto answer = AnswerQuery({run, nullptr, query});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? static_cast<const AddressHistory&>(**answer)
                     : AddressHistory();
}

// From event `from` to event `to`, both counted from 1 and 1 µs apart.
Query Picture(uint32_t rows, uint32_t columns, int64_t from, int64_t to) {
  Query query;
  query.set_rows(rows);
  query.set_columns(columns);
  query.mutable_filter()->set_from_ns(kStartNs + from * 1000);
  query.mutable_filter()->set_to_ns(kStartNs + to * 1000);
  return query;
}

std::vector<int> Shares(const AddressHistory& history) {
  std::vector<int> shares;
  for (const char share : history.coverage()) {
    shares.push_back(static_cast<uint8_t>(share));
  }
  return shares;
}

// Four units; the lowest taken from 1 µs to 3 µs, the two above from 2 µs on.
TraceBuilder TwoAllocations() {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, 4 * kUnit)
      .Step(7)
      .Alloc(Place(0), {"model/a/Relu", "", 1, kUnit, 0})
      .Alloc(Place(1), {"model/b/Sum", "", 2, 2 * kUnit, 0})
      .Free(Place(0))
      .EndStep();
  return trace;
}

TEST(AddressHistoryTest, WhatTakesAPixelIsARectangleFromBirthToDeath) {
  const auto run = TwoAllocations().Open();
  const auto history = Get(*run, Picture(4, 4, 1, 5));
  ASSERT_EQ(history.rectangles_size(), 2);
  const HistoryRectangle& first = history.rectangles(0);
  EXPECT_EQ(first.allocation_id(), 0);
  EXPECT_EQ(first.address(), Place(0));
  EXPECT_EQ(first.size_bytes(), kUnit);
  EXPECT_EQ(first.born_ns(), kStartNs + 1000);
  EXPECT_EQ(first.died_ns(), kStartNs + 3000);
  EXPECT_EQ(first.step(), 7);
  EXPECT_EQ(history.sites(static_cast<int>(first.site())).scope(), "model/a");
  const HistoryRectangle& second = history.rectangles(1);
  EXPECT_EQ(second.died_ns(), 0) << "it lives on";
  EXPECT_EQ(history.sites(static_cast<int>(second.site())).dtype(), "float64");
  EXPECT_THAT(Shares(history), ::testing::Each(0)) << "nothing is smaller";
}

TEST(AddressHistoryTest, WhatIsTooSmallIsAShadeOfItsCells) {
  const auto run = TwoAllocations().Open();
  // Two units and two microseconds a cell: the lowest unit fills half a row of
  // one column, the two above half of each row in half of that column, and
  // then in all of the next.
  const auto history = Get(*run, Picture(2, 2, 1, 5));
  EXPECT_EQ(history.rows(), 2u);
  EXPECT_EQ(history.columns(), 2u);
  ASSERT_EQ(history.rectangles_size(), 1);
  EXPECT_EQ(history.rectangles(0).address(), Place(1));
  EXPECT_THAT(Shares(history), ElementsAre(128, 0, 0, 0));
  const auto coarse = Get(*run, Picture(1, 2, 1, 5));
  EXPECT_THAT(coarse.rectangles(), IsEmpty());
  EXPECT_THAT(Shares(coarse), ElementsAre(128, 128))
      << "1/4 for all of it and 2/4 for half of it; then 2/4";
}

TEST(AddressHistoryTest, TheSmallestShareIsStillSeen) {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, 4096 * kUnit).Alloc(Place(0), {}).Free(Place(0));
  const auto run = trace.Open();
  EXPECT_THAT(Shares(Get(*run, Picture(1, 2, 0, 10))), ElementsAre(1, 0));
}

TEST(AddressHistoryTest, WhatWasMadeBeforeTheRangeIsInIt) {
  const auto run = TwoAllocations().Open();
  const auto history = Get(*run, Picture(4, 1, 4, 5));
  ASSERT_EQ(history.rectangles_size(), 1);
  EXPECT_EQ(history.rectangles(0).born_ns(), kStartNs + 2000);
}

TEST(AddressHistoryTest, RegionsAreStackedWithoutTheSpaceBetweenThem) {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, 2 * kUnit)
      .Region(kPool + (uint64_t{1} << 30), 2 * kUnit)
      .Alloc(kPool + (uint64_t{1} << 30), {"op", "", 1, 2 * kUnit, 0})
      .RegionGone(kPool, 2 * kUnit);
  const auto run = trace.Open();
  const auto history = Get(*run, Picture(1, 1, 2, 3));
  ASSERT_EQ(history.regions_size(), 2) << "also one that is given back";
  EXPECT_EQ(history.regions(1).address(), kPool + (uint64_t{1} << 30));
  EXPECT_THAT(Shares(history), ElementsAre(128));
}

TEST(AddressHistoryTest, ARangeOfAddressesFillsThePicture) {
  const auto run = TwoAllocations().Open();
  Query query = Picture(2, 4, 1, 5);
  query.set_from_address(Place(0));
  query.set_to_address(Place(2));
  const auto history = Get(*run, query);
  ASSERT_EQ(history.regions_size(), 1);
  EXPECT_EQ(history.regions(0).size_bytes(), 2 * kUnit);
  EXPECT_EQ(history.rectangles_size(), 2);
}

TEST(AddressHistoryTest, AFilterLeavesTheRestOut) {
  const auto run = TwoAllocations().Open();
  Query query = Picture(4, 4, 1, 5);
  query.mutable_filter()->set_scope("model/b");
  const auto history = Get(*run, query);
  ASSERT_EQ(history.rectangles_size(), 1);
  EXPECT_EQ(history.rectangles(0).address(), Place(1));
}

TEST(AddressHistoryTest, TheAnswersSizeDependsOnThePictureAlone) {
  TraceBuilder trace;
  constexpr uint64_t kUnits = 128;
  trace.BaselineRegion(kPool, kUnits * kUnit);
  for (int round = 0; round < 200; ++round) {
    for (uint64_t i = 0; i < kUnits; ++i) trace.Alloc(Place(i), {});
    for (uint64_t i = 0; i < kUnits; ++i) trace.Free(Place(i));
  }
  const auto run = trace.Open();
  const auto fine = Get(*run, Picture(kUnits, 8192, 1, 200 * 2 * kUnits));
  EXPECT_EQ(fine.rectangles_size(), 10'000) << "of 25,600";
  const auto cells = Shares(fine);
  EXPECT_EQ(cells.size(), kUnits * 8192);
  double covered = 0;
  for (const HistoryRectangle& rectangle : fine.rectangles()) {
    covered += static_cast<double>(rectangle.died_ns() - rectangle.born_ns()) /
               (200.0 * 2 * kUnits * 1000) * 8192;
  }
  for (const int share : cells) covered += share / 255.0;
  EXPECT_NEAR(covered / (kUnits * 8192), 0.5, 0.01)
      << "shade and rectangles are all of the use together: each unit is "
         "taken half of the time";
}

TEST(AddressHistoryTest, APictureHasAMillionCellsAtMost) {
  const auto run = TwoAllocations().Open();
  Query query = Picture(5000, 8192, -1'000'000, 1'000'000);
  const auto history = Get(*run, query);
  EXPECT_EQ(history.rows(), 1024u);
  EXPECT_EQ(history.columns(), 1024u);
}

TEST(AddressHistoryTest, TheAllocatorThatRanOutOfMemoryIsShown) {
  TraceBuilder large("large#0");
  large.BaselineRegion(kPool, 16 * kUnit)
      .Alloc(Place(0), {"op", "", 1, 9 * kUnit, 0});
  TraceBuilder full("full#0");
  full.BaselineRegion(kPool * 4, kUnit)
      .Alloc(kPool * 4, {})
      .Fail({}, {true, kUnit, ""});
  EXPECT_EQ(Get(*large.Open({&full}), Query()).allocator(), "full#0");
  TraceBuilder small("small#0");
  small.Alloc(kPool * 4, {});
  EXPECT_EQ(Get(*large.Open({&small}), Query()).allocator(), "large#0");
}

TEST(AddressHistoryTest, AnEmptyRangeIsAnEmptyPicture) {
  const auto run = TwoAllocations().Open();
  const auto history = Get(*run, Picture(4, 4, 5, 1));
  EXPECT_EQ(history.columns(), 0u);
  EXPECT_TRUE(history.coverage().empty());
}

TEST(AddressHistoryTest, TheWholeRangeOfInt64IsARange) {
  const auto run = TwoAllocations().Open();
  Query query = Picture(4, 4, 1, 5);
  query.mutable_filter()->set_from_ns(INT64_MIN);
  query.mutable_filter()->set_to_ns(INT64_MAX);
  EXPECT_EQ(Shares(Get(*run, query)).size(), 16u);
}

}  // namespace
}  // namespace oom_forensics
