#include <algorithm>
#include <cstdint>

#include "converter/testing/fragmented_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::At;
using test::Fragmented;
using test::Get;
using test::kPool;
using test::kUnit;
using test::Place;
using test::TraceBuilder;
using ::testing::IsEmpty;

TEST(FragmentationTest, TheMapIsExactToTheByte) {
  const auto run = Fragmented().Open();
  const auto answer = Get<Fragmentation>(*run, FRAGMENTATION);
  ASSERT_EQ(answer.maps_size(), 1);
  const AddressMap& map = answer.maps(0);
  ASSERT_EQ(map.regions_size(), 1);
  EXPECT_EQ(map.regions(0).size_bytes(), 16 * kUnit);
  uint64_t cursor = kPool;
  for (const Chunk& chunk : map.chunks()) {
    EXPECT_EQ(chunk.address(), cursor);
    cursor += chunk.size_bytes();
  }
  EXPECT_EQ(cursor, kPool + 16 * kUnit);
  const FragmentationMeasures& measures = map.measures();
  EXPECT_EQ(measures.free_bytes(), 7 * kUnit);
  EXPECT_EQ(measures.largest_free_bytes(), kUnit);
  EXPECT_EQ(measures.free_chunk_count(), 7u);
  EXPECT_DOUBLE_EQ(measures.bfc_fragmentation(), 6.0 / 7);
  EXPECT_EQ(measures.unusable_free(), 1.0);
  EXPECT_EQ(measures.unusable_free_request_bytes(), 1000u);
  EXPECT_EQ(measures.internal_bytes(), 8 * 56u + 128);
  EXPECT_EQ(map.bins(0).free_count(), 7u);
  EXPECT_EQ(map.bins(0).used_count(), 9u);
}

TEST(FragmentationTest, WithoutALayoutThereIsASentenceAndNoMap) {
  TraceBuilder trace("gpu_async_0#0");
  trace.AllocatorStat(test::U64(schema::kHasLayout, 0));
  trace.Alloc(Place(0), {}).Alloc(Place(1 << 20), {}).Free(Place(0));
  const auto run = trace.Open();
  const auto answer = Get<Fragmentation>(*run, FRAGMENTATION);
  EXPECT_THAT(answer.series(0).columns(), IsEmpty());
  EXPECT_THAT(answer.maps(0).regions(), IsEmpty());
  EXPECT_THAT(answer.maps(0).bins(), IsEmpty());
  EXPECT_FALSE(answer.maps(0).has_measures());
  const auto history = Get<AddressHistory>(*run, ADDRESS_HISTORY);
  EXPECT_THAT(history.rectangles(), IsEmpty());
  for (const auto* quality : {&answer.quality(), &history.quality()}) {
    EXPECT_EQ(
        std::count_if(quality->begin(), quality->end(),
                      [](const Quality& q) { return q.name() == "no_layout"; }),
        1);
  }
  EXPECT_FALSE(Get<Info>(*run, INFO).hosts(0).allocators(0).has_layout());
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS).total_count(), 2u)
      << "the live set is known as of any allocator";
}

TEST(FragmentationTest, AFullPoolHasNoFragmentationAndNoNan) {
  const auto run = Fragmented().Open();
  const auto answer = Get<Fragmentation>(*run, FRAGMENTATION, At("peak"));
  const FragmentationMeasures& measures = answer.maps(0).measures();
  EXPECT_EQ(measures.free_bytes(), 0u);
  EXPECT_EQ(measures.bfc_fragmentation(), 0.0);
  EXPECT_EQ(measures.unusable_free(), 0.0);
  EXPECT_EQ(measures.reserve_waste(), 0.0);
}

TEST(FragmentationTest, AColumnShowsItsWorstMoment) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_columns(1);
  const auto answer = Get<Fragmentation>(*run, FRAGMENTATION, query);
  EXPECT_EQ(answer.series(0).columns(0).worst().largest_free_bytes(), 0u);
}

}  // namespace
}  // namespace oom_forensics
