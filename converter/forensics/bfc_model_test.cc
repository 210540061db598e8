#include "converter/forensics/bfc_model.h"

#include <map>
#include <random>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

BfcSettings Growing(uint64_t limit_bytes) {
  BfcSettings settings;
  settings.limit_bytes = limit_bytes;
  return settings;
}

BfcSettings OneRegion(uint64_t limit_bytes) {
  BfcSettings settings = Growing(limit_bytes);
  settings.allow_growth = false;
  return settings;
}

TEST(BfcModelTest, ThePoolGrowsByDoublingRegions) {
  BfcModel model(Growing(64 * kMiB));
  ASSERT_TRUE(model.Allocate(2 * kMiB));
  EXPECT_EQ(model.reserved_bytes(), 2 * kMiB);
  ASSERT_TRUE(model.Allocate(2 * kMiB));
  EXPECT_EQ(model.reserved_bytes(), 6 * kMiB);
  ASSERT_TRUE(model.Allocate(5 * kMiB));
  EXPECT_EQ(model.reserved_bytes(), 14 * kMiB);
  EXPECT_EQ(model.region_count(), 3u);
}

TEST(BfcModelTest, ALargeRequestDoublesTheRegionUntilItFitsAndNotOnceMore) {
  BfcModel model(Growing(256 * kMiB));
  ASSERT_TRUE(model.Allocate(20 * kMiB));
  EXPECT_EQ(model.reserved_bytes(), 32 * kMiB);
  ASSERT_TRUE(model.Allocate(32 * kMiB));
  EXPECT_EQ(model.reserved_bytes(), 64 * kMiB);
}

TEST(BfcModelTest, TheLastRegionIsWhatTheLimitLeaves) {
  BfcModel model(Growing(5 * kMiB));
  ASSERT_TRUE(model.Allocate(2 * kMiB));
  ASSERT_TRUE(model.Allocate(kMiB));
  EXPECT_EQ(model.reserved_bytes(), 5 * kMiB);
  EXPECT_FALSE(model.Allocate(3 * kMiB));
}

TEST(BfcModelTest, ARequestAboveTheLimitOfOneRegionFails) {
  BfcModel model(OneRegion(4 * kMiB));
  EXPECT_FALSE(model.Allocate(4 * kMiB + 1));
  EXPECT_TRUE(model.Allocate(4 * kMiB));
  EXPECT_FALSE(model.Allocate(0));
}

TEST(BfcModelTest, AChunkLessThanTwiceTheRequestIsGivenWhole) {
  BfcModel model(OneRegion(4096));
  const auto address = model.Allocate(2304);
  ASSERT_TRUE(address);
  EXPECT_EQ(model.SizeOf(*address), 4096u);
  EXPECT_EQ(model.free_bytes(), 0u);
}

TEST(BfcModelTest, AChunkOfTwiceTheRequestIsSplit) {
  BfcModel model(OneRegion(4096));
  const auto address = model.Allocate(2048);
  ASSERT_TRUE(address);
  EXPECT_EQ(model.SizeOf(*address), 2048u);
  EXPECT_EQ(model.largest_free_bytes(), 2048u);
}

TEST(BfcModelTest, AWasteOf128MiBIsSplitOffThoughLessThanTheRequest) {
  BfcModel model(OneRegion(428 * kMiB));
  const auto address = model.Allocate(300 * kMiB);
  ASSERT_TRUE(address);
  EXPECT_EQ(model.SizeOf(*address), 300 * kMiB);
}

TEST(BfcModelTest, TheSmallestHoleThatFitsIsTakenAndOfEqualOnesTheLowest) {
  BfcModel model(OneRegion(64 * 256));
  std::vector<uint64_t> at;
  for (const uint64_t chunks : {4, 1, 2, 1, 2, 1}) {
    at.push_back(*model.Allocate(chunks * 256));
  }
  ASSERT_TRUE(model.Free(at[0]));
  ASSERT_TRUE(model.Free(at[4]));
  ASSERT_TRUE(model.Free(at[2]));
  EXPECT_EQ(model.Allocate(2 * 256), at[2]);
  EXPECT_EQ(model.Allocate(2 * 256), at[4]);
  EXPECT_EQ(model.Allocate(2 * 256), at[0]);
}

TEST(BfcModelTest, FreeNeighboursMergeInARegionButNotAcrossRegions) {
  uint64_t next = 4096;
  BfcSettings settings = Growing(8192);
  settings.first_region_bytes = 4096;
  settings.place_region = [&next](uint64_t size_bytes) {
    const uint64_t address = next;
    next += size_bytes;
    return address;
  };
  BfcModel model(settings);
  const auto low = model.Allocate(4096);
  const auto high = model.Allocate(4096);
  ASSERT_TRUE(low && high);
  ASSERT_EQ(*low + 4096, *high);
  ASSERT_TRUE(model.Free(*low));
  ASSERT_TRUE(model.Free(*high));
  EXPECT_EQ(model.free_bytes(), 8192u);
  EXPECT_EQ(model.largest_free_bytes(), 4096u);
  EXPECT_FALSE(model.Allocate(8192));
}

TEST(BfcModelTest, GarbageCollectionMakesOneRegionOfUnusedOnes) {
  BfcSettings settings = Growing(8192);
  settings.first_region_bytes = 4096;
  settings.garbage_collection = true;
  BfcModel model(settings);
  const auto low = model.Allocate(4096);
  const auto high = model.Allocate(4096);
  ASSERT_TRUE(low && high);
  ASSERT_TRUE(model.Free(*low));
  EXPECT_FALSE(model.Allocate(8192));
  ASSERT_TRUE(model.Free(*high));
  EXPECT_TRUE(model.Allocate(8192));
  EXPECT_EQ(model.region_count(), 1u);
}

TEST(BfcModelTest, FreeingTwiceOrNowhereIsRefused) {
  BfcModel model(OneRegion(4096));
  const auto address = model.Allocate(256);
  ASSERT_TRUE(address);
  EXPECT_FALSE(model.Free(*address + 1));
  EXPECT_TRUE(model.Free(*address));
  EXPECT_FALSE(model.Free(*address));
}

TEST(BfcModelTest, ALayoutGoesOnFromWhereItStood) {
  const Layout layout = {
      {4096,
       1024,
       {{4096, 256, 0, 0}, {4352, 512, Block::kFree, 0}, {4864, 256, 1, 0}}}};
  BfcModel model(OneRegion(1024), layout);
  EXPECT_EQ(model.in_use_bytes(), 512u);
  EXPECT_EQ(model.largest_free_bytes(), 512u);
  EXPECT_EQ(model.Allocate(500), 4352u);
  EXPECT_FALSE(model.Allocate(1));
  EXPECT_TRUE(model.Free(4864));
  EXPECT_EQ(model.Allocate(1), 4864u);
}

TEST(BfcModelTest, OverlappingRegionsAreRefused) {
  BfcModel model(Growing(64 * kMiB));
  EXPECT_TRUE(model.AddRegion(8192, 4096));
  EXPECT_FALSE(model.AddRegion(8192, 4096));
  EXPECT_FALSE(model.AddRegion(8448, 256));
  EXPECT_FALSE(model.AddRegion(4096, 8192));
  EXPECT_TRUE(model.AddRegion(4096, 4096));
}

TEST(BfcModelTest, AnImpossibleLimitDoesNotHangTheModel) {
  BfcModel model(Growing(UINT64_MAX));
  EXPECT_FALSE(model.Allocate(UINT64_MAX));
  EXPECT_FALSE(BfcModel(Growing(0)).Allocate(1));
  BfcSettings settings = Growing(kMiB);
  settings.first_region_bytes = 0;
  EXPECT_TRUE(BfcModel(settings).Allocate(1));
}

TEST(BfcModelTest, ChunksNeverOverlapAndAllBytesAreAccountedFor) {
  std::mt19937 random(7);
  BfcSettings settings = Growing(2 * kMiB);
  settings.first_region_bytes = 16384;
  settings.garbage_collection = true;
  BfcModel model(settings);
  std::map<uint64_t, uint64_t> live;
  for (int round = 0; round < 20000; ++round) {
    if (!live.empty() && random() % 2 == 0) {
      auto victim = live.lower_bound(random());
      if (victim == live.end()) victim = live.begin();
      ASSERT_TRUE(model.Free(victim->first));
      live.erase(victim);
      continue;
    }
    const uint64_t bytes = 1 + random() % (random() % 8 == 0 ? 200000 : 2000);
    const auto address = model.Allocate(bytes);
    if (!address) continue;
    ASSERT_GE(model.SizeOf(*address), bytes);
    live[*address] = model.SizeOf(*address);
  }
  uint64_t total = 0, end = 0;
  for (const auto& [address, size_bytes] : live) {
    ASSERT_GE(address, end);
    end = address + size_bytes;
    total += size_bytes;
  }
  EXPECT_EQ(model.in_use_bytes(), total);
  EXPECT_LE(model.reserved_bytes(), 2 * kMiB);
}

}  // namespace
}  // namespace oom_forensics
