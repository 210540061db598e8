#include "converter/forensics/remedies/pins.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A region at `address` from sizes: negative ones are free, positive held by
// the allocations `holder`, `holder` + 1, ...
RegionLayout Region(uint64_t address, const std::vector<int64_t>& sizes,
                    int64_t holder = 0) {
  RegionLayout region{address, 0, {}};
  for (const int64_t size : sizes) {
    Block block{region.end(), static_cast<uint64_t>(size < 0 ? -size : size),
                size < 0 ? Block::kFree : holder++, 1};
    region.size_bytes += block.size_bytes;
    region.blocks.push_back(block);
  }
  return region;
}

TEST(CheapestReleaseTest, ReleasesTheSmallChunkBetweenTwoBigHoles) {
  const Layout layout = {Region(1000, {50, -40, 10, -40, 60})};
  const auto set = CheapestRelease(layout, 80, ReleaseCost::kBytes);
  ASSERT_TRUE(set.has_value());
  EXPECT_THAT(set->holders, ElementsAre(1));
  EXPECT_EQ(set->released_bytes, 10u);
  EXPECT_EQ(set->hole_address, 1050u);
  EXPECT_EQ(set->hole_bytes, 90u);
  EXPECT_EQ(set->region_address, 1000u);
}

TEST(CheapestReleaseTest, OneBigChunkBeatsTwoSmallOnesOnlyByCount) {
  const Layout layout = {Region(0, {10, -10, 10, -1, 25})};
  EXPECT_THAT(CheapestRelease(layout, 25, ReleaseCost::kBytes)->holders,
              ElementsAre(0, 1));
  EXPECT_THAT(CheapestRelease(layout, 25, ReleaseCost::kCount)->holders,
              ElementsAre(2));
}

TEST(CheapestReleaseTest, ByAgeTheYoungestGo) {
  Layout layout = {Region(0, {30, 30})};
  layout[0].blocks[0].age_ns = 5;
  layout[0].blocks[1].age_ns = 4;
  EXPECT_THAT(CheapestRelease(layout, 30, ReleaseCost::kAge)->holders,
              ElementsAre(1));
}

TEST(CheapestReleaseTest, AgesOfYearsDoNotOverflow) {
  Layout layout = {Region(0, {10, 10, -1, 20})};
  layout[0].blocks[0].age_ns = ~uint64_t{0};
  layout[0].blocks[1].age_ns = 2;
  layout[0].blocks[3].age_ns = ~uint64_t{0};
  EXPECT_THAT(CheapestRelease(layout, 20, ReleaseCost::kAge)->holders,
              ElementsAre(2));
}

TEST(CheapestReleaseTest, NothingIsReleasedWhenAHoleIsBigEnough) {
  const auto set =
      CheapestRelease({Region(0, {10, -20, 5})}, 20, ReleaseCost::kBytes);
  ASSERT_TRUE(set.has_value());
  EXPECT_THAT(set->holders, IsEmpty());
  EXPECT_EQ(set->hole_bytes, 20u);
}

TEST(CheapestReleaseTest, NoHoleReachesOverTheBorderOfARegion) {
  const Layout touching = {Region(0, {-10, 10}), Region(20, {10, -10}, 1)};
  EXPECT_FALSE(CheapestRelease(touching, 30, ReleaseCost::kBytes).has_value());
  const auto merged =
      CheapestRelease(MergeTouchingRegions(touching), 30, ReleaseCost::kBytes);
  ASSERT_TRUE(merged.has_value());
  EXPECT_THAT(merged->holders, ElementsAre(0, 1));
}

TEST(CheapestReleaseTest, RegionsApartStayApart) {
  const Layout apart = {Region(0, {-10, 10}), Region(21, {10, -10}, 1)};
  EXPECT_EQ(MergeTouchingRegions(apart).size(), 2u);
}

TEST(CheapestReleaseTest, MergedRegionsHaveOneHoleOverTheBorder) {
  const Layout merged =
      MergeTouchingRegions({Region(0, {10, -10}), Region(20, {-5, 10}, 1)});
  ASSERT_EQ(merged.size(), 1u);
  ASSERT_EQ(merged[0].blocks.size(), 3u);
  EXPECT_EQ(merged[0].blocks[1].size_bytes, 15u);
}

TEST(CheapestReleaseTest, ARequestLargerThanEveryRegionHasNoPins) {
  EXPECT_FALSE(
      CheapestRelease({Region(0, {10, -10})}, 21, ReleaseCost::kBytes));
  EXPECT_FALSE(CheapestRelease({}, 1, ReleaseCost::kBytes));
}

TEST(CheapestReleaseTest, ARequestOfNothingHasNoPins) {
  EXPECT_FALSE(CheapestRelease({Region(0, {10})}, 0, ReleaseCost::kBytes));
}

// The definition, tried on every set of live allocations: the least cost of a
// set whose release leaves `request` contiguous bytes in some region.
std::optional<uint64_t> BruteForceCost(const Layout& layout, uint64_t request,
                                       ReleaseCost cost) {
  std::vector<const Block*> held;
  for (const RegionLayout& region : layout) {
    for (const Block& block : region.blocks) {
      if (!block.free()) held.push_back(&block);
    }
  }
  std::optional<uint64_t> best;
  for (uint32_t released = 0; released < 1u << held.size(); ++released) {
    uint64_t total = 0;
    for (size_t i = 0; i < held.size(); ++i) {
      if ((released >> i & 1) == 0) continue;
      total += cost == ReleaseCost::kBytes   ? held[i]->size_bytes
               : cost == ReleaseCost::kCount ? 1
                                             : held[i]->age_ns;
    }
    if (best.has_value() && total >= *best) continue;
    size_t index = 0;
    for (const RegionLayout& region : layout) {
      uint64_t hole = 0;
      for (const Block& block : region.blocks) {
        const bool open = block.free() || (released >> index++ & 1) != 0;
        hole = open ? hole + block.size_bytes : 0;
        if (hole >= request) best = total;
      }
    }
  }
  return best;
}

TEST(CheapestReleaseTest, EqualsBruteForceOnRandomMaps) {
  std::mt19937 random(20);
  for (int round = 0; round < 3000; ++round) {
    Layout layout;
    uint64_t address = 256;
    int64_t holder = 0;
    const int regions = 1 + random() % 3;
    for (int r = 0; r < regions; ++r) {
      RegionLayout region{address, 0, {}};
      const int blocks = 1 + random() % 6;
      for (int b = 0; b < blocks; ++b) {
        const bool free = random() % 3 == 0;
        region.blocks.push_back({region.end(), 1 + random() % 12,
                                 free ? Block::kFree : holder,
                                 free ? 0 : random() % 20});
        region.size_bytes += region.blocks.back().size_bytes;
        if (!free) ++holder;
      }
      layout.push_back(region);
      address = region.end() + random() % 2;
    }
    if (holder > 12) continue;
    if (random() % 2 == 0) layout = MergeTouchingRegions(layout);
    const uint64_t request = 1 + random() % 40;
    for (const ReleaseCost cost :
         {ReleaseCost::kBytes, ReleaseCost::kCount, ReleaseCost::kAge}) {
      const auto set = CheapestRelease(layout, request, cost);
      const auto expected = BruteForceCost(layout, request, cost);
      ASSERT_EQ(set.has_value(), expected.has_value());
      if (!set.has_value()) continue;
      ASSERT_GE(set->hole_bytes, request);
      uint64_t total = 0;
      for (const RegionLayout& region : layout) {
        for (const Block& block : region.blocks) {
          for (const int64_t released : set->holders) {
            if (block.holder != released) continue;
            total += cost == ReleaseCost::kBytes   ? block.size_bytes
                     : cost == ReleaseCost::kCount ? 1
                                                   : block.age_ns;
            ASSERT_GE(block.address, set->hole_address);
            ASSERT_LE(block.end(), set->hole_address + set->hole_bytes);
          }
        }
      }
      ASSERT_EQ(total, *expected) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace oom_forensics
