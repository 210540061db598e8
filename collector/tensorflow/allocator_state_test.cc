#include "collector/tensorflow/allocator_state.h"

#include "gtest/gtest.h"

namespace oom_forensics::collector {
namespace {

TEST(AllocatorStateTest, WhatTheListOfLiveAllocationsLacksIsSaid) {
  AllocatorState state;
  state.info.name = "GPU_0_bfc";
  state.info.kind = "bfc";
  state.regions = 2;
  state.unlisted_allocations = 7;
  JsonWriter json;
  WriteAllocatorState(state, &json);
  EXPECT_EQ(json.Take(), R"({"name":"GPU_0_bfc#0","kind":"bfc","regions":2,)"
                         R"("unlisted_allocations":7})");
}

TEST(AllocatorStateTest, AllocatorsThatGotNoSlotAreSaidTogether) {
  JsonWriter json;
  json.BeginArray();
  WriteUnknownAllocators(5, &json);
  json.EndArray();
  EXPECT_EQ(json.Take(),
            R"([{"name":"unknown","kind":"unknown","unrecorded_requests":5,)"
            R"("regions":0}])");
}

TEST(AllocatorStateTest, NothingIsSaidOfAllocatorsThatAllGotASlot) {
  JsonWriter json;
  json.BeginArray();
  WriteUnknownAllocators(0, &json);
  json.EndArray();
  EXPECT_EQ(json.Take(), "[]");
}

}  // namespace
}  // namespace oom_forensics::collector
