#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "converter/testing/fragmented_run.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using test::At;
using test::Error;
using test::Fragmented;
using test::Get;
using test::kPool;
using test::kStartNs;
using test::kUnit;
using test::Place;
using test::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<uint64_t> Addresses(const Allocations& answer) {
  std::vector<uint64_t> addresses;
  for (const Allocation& a : answer.allocations())
    addresses.push_back(a.address());
  return addresses;
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

TEST(AllocationsTest, WhatHasNoScopeIsToldApartByType) {
  TraceBuilder trace;
  trace.Alloc(Place(0), {"MatMul", "", 1, 2 * kUnit, 0, true})
      .Alloc(Place(2), {"MatMul", "", 1, kUnit, 0, true})
      .Alloc(Place(3), {"Relu", "", 1, kUnit, 0, true})
      .Alloc(Place(4), {"", "", 1, kUnit, 0});
  Query query = At("end");
  query.set_group_by(GROUP_SCOPE);
  const auto answer = Get<Allocations>(*trace.Open(), ALLOCATIONS, query);
  ASSERT_EQ(answer.groups_size(), 2);
  const AllocationGroup& eager = answer.groups(0);
  EXPECT_EQ(eager.key(), "(eager ops)");
  EXPECT_EQ(eager.allocated_bytes(), 4 * kUnit);
  ASSERT_EQ(eager.children_size(), 2);
  EXPECT_EQ(eager.children(0).key(), "MatMul");
  EXPECT_EQ(eager.children(0).count(), 2u);
  EXPECT_EQ(answer.groups(1).key(), "(no scope)") << "nobody knows its op";
  EXPECT_EQ(answer.groups(1).children_size(), 0);
}

TEST(AllocationsTest, AStepIsTheMomentOfItsPeak) {
  const auto run = Fragmented().Open();
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS, At("step:10")).total_count(),
            16u);
  // It begins at the height at which step 10 ended.
  EXPECT_EQ(Get<Allocations>(*run, ALLOCATIONS, At("step:11")).total_count(),
            16u);
  EXPECT_EQ(Error(*run, ALLOCATIONS, At("step:12")),
            "There is no step 12; the trace has the steps 10 to 11.");
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

}  // namespace
}  // namespace oom_forensics
