// The datasets as answers to questions about small traces that can be worked
// out by hand.
#include <memory>
#include <string>
#include <vector>

#include "converter/datasets/dataset.h"
#include "converter/datasets/selection.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::Ask;
using test::kStartNs;
using test::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <typename Answer>
Answer Get(const Run& run, DatasetKind kind, Query query = {}) {
  query.set_dataset(kind);
  auto answer = AnswerQuery({run, nullptr, query});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? static_cast<const Answer&>(**answer) : Answer();
}

std::string Error(const Run& run, DatasetKind kind, Query query) {
  query.set_dataset(kind);
  const auto answer = AnswerQuery({run, nullptr, query});
  EXPECT_FALSE(answer.ok());
  return std::string(answer.status().message());
}

// A pool of 16 chunks of 256 bytes, at 0x10000. Half of it is taken by two
// layers, every other chunk is given back, and then 1024 bytes do not fit.
constexpr uint64_t kPool = 0x10000;
constexpr uint64_t kUnit = 256;

uint64_t Place(uint64_t i) { return kPool + i * kUnit; }

TraceBuilder Fragmented() {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, 16 * kUnit)
      .BaselineChunk(Place(0), {"init/w", "[16]", 2, 128, 256}, 3'000'000);
  trace.Step(10).Thread(5);
  for (uint64_t i = 1; i < 16; ++i) {
    const std::string layer = i % 2 == 0 ? "model/b" : "model/a";
    trace.Alloc(Place(i), {"StatefulPartitionedCall/" + layer + "/Relu", "[64]",
                           1, 200, 256});
  }
  trace.Step(11);
  for (uint64_t i = 2; i < 16; i += 2) trace.Free(Place(i));
  trace.Fail({"model/c/Conv2D", "[16,16]", 1, 1000, 0}, {true, 16 * kUnit, ""});
  trace.EndStep();
  return trace;
}

// ------------------------------------------------------------------- info

TEST(InfoTest, CountsAreExactAndTheBaselineIsCountedApart) {
  const auto run = Fragmented().Open();
  const auto info = Get<Info>(*run, INFO);
  ASSERT_EQ(info.hosts_size(), 1);
  ASSERT_EQ(info.hosts(0).allocators_size(), 1);
  const AllocatorInfo& allocator = info.hosts(0).allocators(0);
  EXPECT_EQ(allocator.alloc_count(), 15u);
  EXPECT_EQ(allocator.free_count(), 7u);
  EXPECT_EQ(allocator.oom_count(), 1u);
  EXPECT_EQ(allocator.baseline_count(), 1u);
  EXPECT_EQ(allocator.baseline_bytes(), 256u);
  EXPECT_EQ(allocator.peak_in_use_bytes(), 16 * kUnit);
  EXPECT_EQ(allocator.closeness(), 1.0);
  EXPECT_EQ(info.hosts(0).first_step(), 10);
  EXPECT_EQ(info.hosts(0).last_step(), 11);
}

TEST(InfoTest, TheCollectorsTotalsStandWhateverWasDropped) {
  TraceBuilder trace;
  trace.Alloc(0x1000, {})
      .AllocatorStat(test::U64(schema::kTotalAllocs, 1000))
      .AllocatorStat(test::U64(schema::kDroppedEvents, 999));
  const auto run = trace.Open();
  const auto info = Get<Info>(*run, INFO);
  EXPECT_EQ(info.hosts(0).allocators(0).alloc_count(), 1000u);
  EXPECT_THAT(
      info.quality(0).name() + info.quality(1).name() + info.quality(2).name(),
      HasSubstr("dropped_events"));
}

TEST(InfoTest, TheClosestToItsLimitComesFirst) {
  TraceBuilder idle("idle#0");
  idle.Alloc(0x1000, {});
  TraceBuilder full("full#0");
  full.Alloc(0x9000, {}).Fail({}, {true, 256, ""});
  const auto run = idle.Open({&full});
  const auto info = Get<Info>(*run, INFO);
  EXPECT_EQ(info.hosts(0).allocators(0).allocator(), "full#0");
}

// --------------------------------------------------------- memory timeline

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

// ------------------------------------------------------------- allocations

std::vector<uint64_t> Addresses(const Allocations& answer) {
  std::vector<uint64_t> addresses;
  for (const Allocation& a : answer.allocations())
    addresses.push_back(a.address());
  return addresses;
}

Query At(const std::string& moment) {
  Query query;
  *query.mutable_at() = *ParseMoment(moment);
  return query;
}

TEST(AllocationsTest, TheFirstOomIsTheMomentUnlessAnotherIsNamed) {
  const auto run = Fragmented().Open();
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS).total_count(), 9u);
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS, At("oom:0")).total_count(), 9u);
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS, At("peak")).total_count(), 16u);
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS, At("event:-1")).total_count(),
            1u);
  EXPECT_EQ(
      Get<Allocations>(*run, ALLOCATIONS, At(std::to_string(kStartNs + 3000)))
          .total_count(),
      4u)
      << "the baseline and three events";
  EXPECT_THAT(Error(*run, ALLOCATIONS, At("oom:1")),
              HasSubstr("the run has 1"));
}

TEST(AllocationsTest, SaysAllThatIsKnown) {
  const auto run = Fragmented().Open();
  Query query = At("end");
  query.set_sort(SORT_ADDRESS);
  query.set_ascending(true);
  const auto answer = Get<Allocations>(*run, ALLOCATIONS, query);
  const Allocation& old = answer.allocations(0);
  EXPECT_TRUE(old.baseline());
  EXPECT_EQ(old.id(), -1);
  EXPECT_EQ(old.dtype(), "float64");
  EXPECT_EQ(old.born_ns(), kStartNs - 3'000'000);
  const Allocation& young = answer.allocations(1);
  EXPECT_EQ(young.id(), 0);
  EXPECT_EQ(young.scope(), "model/a");
  EXPECT_EQ(young.op_type(), "Relu");
  EXPECT_THAT(young.shape(), ElementsAre(64));
  EXPECT_EQ(young.requested_bytes(), 200u);
  EXPECT_EQ(young.allocated_bytes(), 256u);
  EXPECT_EQ(young.step(), 10);
  EXPECT_EQ(young.thread(), 5u);
  EXPECT_EQ(young.died_ns(), 0);
}

TEST(AllocationsTest, EveryFilterWorks) {
  const auto run = Fragmented().Open();
  const auto count = [&run](const std::function<void(Filter*)>& set) {
    Query query = At("peak");
    set(query.mutable_filter());
    return Get<Allocations>(*run, ALLOCATIONS, query).total_count();
  };
  EXPECT_EQ(count([](Filter* f) { f->set_scope("model"); }), 15u);
  EXPECT_EQ(count([](Filter* f) { f->set_scope("model/a"); }), 8u);
  EXPECT_EQ(count([](Filter* f) { f->set_dtype("float64"); }), 1u);
  EXPECT_EQ(count([](Filter* f) { f->set_min_bytes(257); }), 0u);
  EXPECT_EQ(count([](Filter* f) { f->set_search("RELU"); }), 15u);
  EXPECT_EQ(count([](Filter* f) { f->set_search("0x10001"); }), 1u)
      << "an address inside the first chunk";
  EXPECT_EQ(count([](Filter* f) { f->set_from_step(10); }), 15u);
  EXPECT_EQ(count([](Filter* f) { f->set_from_step(11); }), 0u);
  EXPECT_EQ(count([](Filter* f) { f->set_to_ns(kStartNs); }), 1u);
  EXPECT_EQ(count([](Filter* f) { f->set_host("host0"); }), 16u);
  EXPECT_EQ(count([](Filter* f) { f->set_allocator("bfc#0"); }), 16u);
}

TEST(AllocationsTest, AHostThatIsNotThereIsAnErrorThatListsThoseThatAre) {
  const auto run = Fragmented().Open();
  Query query;
  query.mutable_filter()->set_host("nobody");
  EXPECT_EQ(Error(*run, ALLOCATIONS, query),
            "There is no host nobody; there are: host0.");
}

TEST(AllocationsTest, PagesFollowEachOther) {
  const auto run = Fragmented().Open();
  Query query = At("peak");
  query.set_sort(SORT_ADDRESS);
  query.set_ascending(true);
  query.set_offset(14);
  query.set_limit(5);
  const auto answer = Get<Allocations>(*run, ALLOCATIONS, query);
  EXPECT_THAT(Addresses(answer), ElementsAre(Place(14), Place(15)));
  EXPECT_EQ(answer.total_count(), 16u);
}

TEST(AllocationsTest, ScopesAreATree) {
  const auto run = Fragmented().Open();
  Query query = At("peak");
  query.set_group_by(GROUP_SCOPE);
  const auto answer = Get<Allocations>(*run, ALLOCATIONS, query);
  ASSERT_EQ(answer.groups_size(), 2);
  const AllocationGroup& model = answer.groups(0);
  EXPECT_EQ(model.key(), "model");
  EXPECT_EQ(model.allocated_bytes(), 15 * kUnit);
  ASSERT_EQ(model.children_size(), 2);
  EXPECT_EQ(model.children(0).key(), "a");
  EXPECT_EQ(model.children(0).count(), 8u);
}

TEST(AllocationsTest, DevicesAreGroups) {
  TraceBuilder gpu("GPU_0_bfc#0");
  gpu.AllocatorStat(test::Text(schema::kDeviceName, "/device:GPU:0"))
      .Alloc(kPool * 16, {"op", "", 1, 3 * kUnit, 0});
  const auto run = Fragmented().Open({&gpu});
  Query query = At("end");
  query.set_group_by(GROUP_DEVICE);
  const auto answer = Get<Allocations>(*run, ALLOCATIONS, query);
  ASSERT_EQ(answer.groups_size(), 2);
  EXPECT_EQ(answer.groups(0).key(), "bfc#0") << "its device is not known";
  EXPECT_EQ(answer.groups(1).key(), "/device:GPU:0");
  EXPECT_EQ(answer.groups(1).allocated_bytes(), 3 * kUnit);
}

TEST(AllocationsTest, ARangeHoldsAllThatLivedInIt) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_range(true);
  query.mutable_filter()->set_from_step(11);
  const auto answer = Get<Allocations>(*run, ALLOCATIONS, query);
  EXPECT_EQ(answer.total_count(), 16u) << "all were live when step 11 began";
}

// ----------------------------------------------------------- fragmentation

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

// -------------------------------------------------------------- oom window

TEST(OomWindowTest, EnoughInPiecesIsFragmentation) {
  const auto run = Fragmented().Open();
  const auto window = Get<OomWindow>(*run, OOM_WINDOW);
  ASSERT_EQ(window.ooms_size(), 1);
  const Oom& oom = window.ooms(0);
  EXPECT_EQ(oom.request().op_name(), "model/c/Conv2D");
  EXPECT_EQ(oom.request().requested_bytes(), 1000u);
  EXPECT_EQ(oom.request().rounded_bytes(), 1024u);
  EXPECT_THAT(oom.request().shape(), ElementsAre(16, 16));
  EXPECT_EQ(oom.request().step(), 11);
  EXPECT_EQ(oom.in_use_bytes(), 9 * kUnit);
  EXPECT_EQ(oom.free_bytes(), 7 * kUnit);
  EXPECT_EQ(oom.largest_free_bytes(), kUnit);
  EXPECT_EQ(oom.limit_bytes(), 16 * kUnit);
  EXPECT_TRUE(oom.fits_if_compacted());
  EXPECT_EQ(oom.verdict().kind(), "FRAGMENTATION");
  EXPECT_EQ(oom.verdict().short_by_bytes(), 768u);
  EXPECT_EQ(oom.recent_size(), 22);
  EXPECT_EQ(oom.recent(21).kind(), EVENT_FREE);
  EXPECT_EQ(oom.holders(0).count(), 8u);
  EXPECT_FALSE(oom.dump_check().has_dump());
}

TEST(OomWindowTest, TooLittleAltogetherIsCapacity) {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, 4 * kUnit)
      .Alloc(Place(0), {"a", "", 1, 3 * kUnit, 0})
      .Fail({"b", "", 1, 2 * kUnit, 0}, {true, 4 * kUnit, ""});
  const auto run = trace.Open();
  const auto window = Get<OomWindow>(*run, OOM_WINDOW);
  EXPECT_EQ(window.ooms(0).verdict().kind(), "CAPACITY");
  EXPECT_FALSE(window.ooms(0).fits_if_compacted());
}

TEST(OomWindowTest, AProbeIsNoOom) {
  TraceBuilder trace;
  trace.Fail({}, {false, 100, ""});
  const auto run = trace.Open();
  EXPECT_THAT(Get<OomWindow>(*run, OOM_WINDOW).ooms(), IsEmpty());
}

TEST(OomWindowTest, OomsOfAllAllocatorsAreNumberedByTime) {
  TraceBuilder one("one#0");
  one.Wait(50'000).Fail({"late", "", 1, 1, 0}, {});
  TraceBuilder two("two#0");
  two.Fail({"early", "", 1, 1, 0}, {});
  const auto run = one.Open({&two});
  const auto window = Get<OomWindow>(*run, OOM_WINDOW);
  ASSERT_EQ(window.ooms_size(), 2);
  EXPECT_EQ(window.ooms(0).request().op_name(), "early");
  EXPECT_EQ(window.ooms(1).request().op_name(), "late");
  Query second;
  second.set_oom(1);
  EXPECT_EQ(Get<OomWindow>(*run, OOM_WINDOW, second).ooms(0).index(), 1);
}

// ---------------------------------------------------- steps, allocation life

TEST(StepsTest, SaysWhatAStepTookAndLeft) {
  const auto run = Fragmented().Open();
  const auto steps = Get<Steps>(*run, STEPS);
  ASSERT_EQ(steps.steps_size(), 2);
  EXPECT_EQ(steps.steps(0).alloc_count(), 15u);
  EXPECT_EQ(steps.steps(0).survivor_bytes(), 15 * kUnit);
  EXPECT_EQ(steps.steps(1).free_count(), 7u);
  EXPECT_EQ(steps.steps(1).peak().in_use_bytes(), 16 * kUnit);
}

TEST(AllocationLifeTest, ListsWhatLayAtThePlaceBeforeAndAfter) {
  TraceBuilder trace;
  trace.Alloc(0x1000, {"first", "", 1, 256, 0}).Free(0x1000);
  trace.Alloc(0x1000, {"second", "", 1, 512, 0}).Free(0x1000);
  trace.Alloc(0x1100, {"third", "", 1, 256, 0});
  const auto run = trace.Open();
  Query query;
  query.set_allocation_id(2);
  const auto life = Get<AllocationLife>(*run, ALLOCATION_LIFE, query);
  EXPECT_EQ(life.allocation().op_name(), "second");
  EXPECT_EQ(life.allocation().lifetime_ns(), 1000u);
  ASSERT_EQ(life.before_size(), 1);
  EXPECT_EQ(life.before(0).op_name(), "first");
  ASSERT_EQ(life.after_size(), 1);
  EXPECT_EQ(life.after(0).op_name(), "third");
}

TEST(AllocationLifeTest, ANumberThatIsNoAllocationIsAnError) {
  const auto run = Fragmented().Open();
  Query query;
  query.set_allocation_id(15);
  EXPECT_THAT(Error(*run, ALLOCATION_LIFE, query),
              HasSubstr("no allocation 15"));
}

}  // namespace
}  // namespace oom_forensics
