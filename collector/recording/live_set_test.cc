#include "collector/recording/live_set.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace oom_forensics::collector {
namespace {

LiveAllocation At(uint64_t address, AllocatorId allocator = 0) {
  LiveAllocation allocation;
  allocation.address = address;
  allocation.allocator = allocator;
  allocation.born_ns = static_cast<int64_t>(address) + 1;
  return allocation;
}

TEST(LiveSetTest, IsEmptyAtFirst) {
  LiveSet live;
  EXPECT_EQ(live.size(), 0u);
  EXPECT_FALSE(live.Erase(4096, 0, nullptr));
}

TEST(LiveSetTest, GivesBackWhatWasInserted) {
  LiveSet live;
  ASSERT_TRUE(live.Insert(At(4096)));
  LiveAllocation erased;
  ASSERT_TRUE(live.Erase(4096, 0, &erased));
  EXPECT_EQ(erased.born_ns, 4097);
  EXPECT_FALSE(live.Erase(4096, 0, nullptr));
}

TEST(LiveSetTest, TellsAllocatorsOfOneAddressApart) {
  LiveSet live;
  ASSERT_TRUE(live.Insert(At(4096, 1)));
  ASSERT_TRUE(live.Insert(At(4096, 2)));
  EXPECT_EQ(live.size(), 2u);
  EXPECT_TRUE(live.Erase(4096, 1, nullptr));
  EXPECT_TRUE(live.Erase(4096, 2, nullptr));
}

TEST(LiveSetTest, ReplacesAnAllocationWhoseEndItMissed) {
  LiveSet live;
  ASSERT_TRUE(live.Insert(At(4096)));
  LiveAllocation again = At(4096);
  again.born_ns = 7;
  ASSERT_TRUE(live.Insert(again));
  LiveAllocation erased;
  ASSERT_TRUE(live.Erase(4096, 0, &erased));
  EXPECT_EQ(erased.born_ns, 7);
  EXPECT_EQ(live.size(), 0u);
}

TEST(LiveSetTest, RefusesMoreThanItsLimit) {
  LiveSet live(2);
  EXPECT_TRUE(live.Insert(At(256)));
  EXPECT_TRUE(live.Insert(At(512)));
  EXPECT_FALSE(live.Insert(At(768)));
  EXPECT_EQ(live.size(), 2u);
}

// Against std::map, over many insertions and erasures that wrap around the end
// of the table and close up its gaps.
TEST(LiveSetTest, BehavesAsAMapDoes) {
  std::mt19937_64 random(20240607);
  LiveSet live;
  std::map<uint64_t, int64_t> expected;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t address = (random() % 3000 + 1) * 256;
    if (random() % 2 == 0) {
      LiveAllocation allocation = At(address);
      allocation.born_ns = i;
      ASSERT_TRUE(live.Insert(allocation));
      expected[address] = i;
    } else {
      LiveAllocation erased;
      const auto found = expected.find(address);
      ASSERT_EQ(live.Erase(address, 0, &erased), found != expected.end());
      if (found != expected.end()) {
        EXPECT_EQ(erased.born_ns, found->second);
        expected.erase(found);
      }
    }
  }
  std::map<uint64_t, int64_t> actual;
  live.ForEach([&](const LiveAllocation& allocation) {
    actual[allocation.address] = allocation.born_ns;
  });
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(live.size(), expected.size());
}

}  // namespace
}  // namespace oom_forensics::collector
