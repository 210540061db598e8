// What the model does, case by case. That TensorFlow does the same is tested
// against its own allocator: tests/bfc_model.
#include "converter/bfc/bfc_model.h"

#include <map>
#include <random>
#include <vector>

#include "core/bfc.h"
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

// Regions side by side, as long as there is memory.
class Shelf : public RegionSource {
 public:
  explicit Shelf(uint64_t capacity_bytes = UINT64_MAX)
      : left_bytes_(capacity_bytes) {}
  std::optional<BfcRegion> Take(uint64_t size_bytes) override {
    asked_.push_back(size_bytes);
    if (size_bytes > left_bytes_) return std::nullopt;
    left_bytes_ -= size_bytes;
    next_ += size_bytes;
    return BfcRegion{next_ - size_bytes, size_bytes};
  }
  void GiveBack(const BfcRegion& region) override {
    left_bytes_ += region.size_bytes;
  }
  const std::vector<uint64_t>& asked() const { return asked_; }

 private:
  uint64_t left_bytes_;
  uint64_t next_ = 4096;
  std::vector<uint64_t> asked_;
};

uint64_t AddressOf(const BfcModel& model, ChunkId id) {
  return model.chunk(id).address;
}

TEST(BfcModelTest, ThePoolGrowsByDoublingRegions) {
  BfcModel model(Growing(64 * kMiB));
  ASSERT_NE(model.Allocate(2 * kMiB), kNoChunk);
  EXPECT_EQ(model.reserved_bytes(), 2 * kMiB);
  ASSERT_NE(model.Allocate(2 * kMiB), kNoChunk);
  EXPECT_EQ(model.reserved_bytes(), 6 * kMiB);
  ASSERT_NE(model.Allocate(5 * kMiB), kNoChunk);
  EXPECT_EQ(model.reserved_bytes(), 14 * kMiB);
  EXPECT_EQ(model.region_count(), 3u);
}

TEST(BfcModelTest, ALargeRequestDoublesTheRegionUntilItFitsAndNotOnceMore) {
  BfcModel model(Growing(256 * kMiB));
  ASSERT_NE(model.Allocate(20 * kMiB), kNoChunk);
  EXPECT_EQ(model.reserved_bytes(), 32 * kMiB);
  ASSERT_NE(model.Allocate(32 * kMiB), kNoChunk);
  EXPECT_EQ(model.reserved_bytes(), 64 * kMiB);
}

TEST(BfcModelTest, TheLastRegionIsWhatTheLimitLeaves) {
  BfcModel model(Growing(5 * kMiB));
  ASSERT_NE(model.Allocate(2 * kMiB), kNoChunk);
  ASSERT_NE(model.Allocate(kMiB), kNoChunk);
  EXPECT_EQ(model.reserved_bytes(), 5 * kMiB);
  EXPECT_EQ(model.Allocate(3 * kMiB), kNoChunk);
}

TEST(BfcModelTest, WhatTheSystemRefusesIsAskedForATenthSmaller) {
  Shelf shelf(15 * 256);
  BfcModel model(OneRegion(20 * 256), &shelf);
  ASSERT_NE(model.Allocate(256), kNoChunk);
  // 0.9 of it, rounded up to 256 bytes.
  EXPECT_EQ(shelf.asked(), (std::vector<uint64_t>{20 * 256, 18 * 256, 17 * 256,
                                                  16 * 256, 15 * 256}));
  EXPECT_EQ(model.reserved_bytes(), 15u * 256);
}

TEST(BfcModelTest, OfRefusalsWithoutEndTheModelGivesUp) {
  Shelf nothing(0);
  BfcModel model(OneRegion(20 * 256), &nothing);
  EXPECT_EQ(model.Allocate(1), kNoChunk);
}

TEST(BfcModelTest, ARequestAboveTheLimitOfOneRegionFails) {
  BfcModel model(OneRegion(4 * kMiB));
  EXPECT_EQ(model.Allocate(4 * kMiB + 1), kNoChunk);
  EXPECT_NE(model.Allocate(4 * kMiB), kNoChunk);
  EXPECT_EQ(model.Allocate(0), kNoChunk);
}

TEST(BfcModelTest, AChunkLessThanTwiceTheRequestIsGivenWhole) {
  BfcModel model(OneRegion(4096));
  const ChunkId chunk = model.Allocate(2304);
  ASSERT_NE(chunk, kNoChunk);
  EXPECT_EQ(model.chunk(chunk).size_bytes, 4096u);
  EXPECT_EQ(model.free_bytes(), 0u);
}

TEST(BfcModelTest, TheFragmentationFractionSaysHowMuchMayBeWasted) {
  BfcSettings settings = OneRegion(4096);
  settings.fragmentation_fraction = 0.25;
  BfcModel model(settings);
  const ChunkId chunk = model.Allocate(3072);
  ASSERT_NE(chunk, kNoChunk);
  EXPECT_EQ(model.chunk(chunk).size_bytes, 3072u);
}

TEST(BfcModelTest, TheSmallestHoleThatFitsIsTakenAndOfEqualOnesTheLowest) {
  BfcModel model(OneRegion(64 * 256));
  std::vector<ChunkId> at;
  std::vector<uint64_t> address;
  for (const uint64_t chunks : {4, 1, 2, 1, 2, 1}) {
    at.push_back(model.Allocate(chunks * 256));
    address.push_back(AddressOf(model, at.back()));
  }
  model.Free(at[0]);
  model.Free(at[4]);
  model.Free(at[2]);
  EXPECT_EQ(AddressOf(model, model.Allocate(2 * 256)), address[2]);
  EXPECT_EQ(AddressOf(model, model.Allocate(2 * 256)), address[4]);
  EXPECT_EQ(AddressOf(model, model.Allocate(2 * 256)), address[0]);
}

TEST(BfcModelTest, RegionsThatTouchAreOneOnlyWhereMemoryAllowsIt) {
  for (const bool merges : {false, true}) {
    Shelf shelf;
    BfcSettings settings = Growing(6 * kMiB);
    settings.merges_regions = merges;
    BfcModel model(settings, &shelf);
    const ChunkId low = model.Allocate(2 * kMiB);
    const ChunkId high = model.Allocate(4 * kMiB);
    model.Free(low);
    model.Free(high);
    EXPECT_EQ(model.region_count(), merges ? 1u : 2u);
    EXPECT_EQ(model.largest_free_bytes(), (merges ? 6 : 4) * kMiB);
  }
}

TEST(BfcModelTest, GarbageCollectionMakesOneRegionOfUnusedOnes) {
  for (const bool collects : {false, true}) {
    BfcSettings settings = Growing(6 * kMiB);
    settings.garbage_collection = collects;
    BfcModel model(settings);
    const ChunkId low = model.Allocate(2 * kMiB);
    const ChunkId high = model.Allocate(4 * kMiB);
    model.Free(low);
    EXPECT_EQ(model.Allocate(6 * kMiB), kNoChunk);
    model.Free(high);
    EXPECT_EQ(model.Allocate(6 * kMiB) != kNoChunk, collects);
    EXPECT_EQ(model.region_count(), collects ? 1u : 2u);
  }
}

TEST(BfcModelTest, WhatWasFreedTooLateIsNotGivenToWhomItIsNotSafeFor) {
  BfcModel model(OneRegion(512));
  const ChunkId first = model.Allocate(256);
  const ChunkId second = model.Allocate(256);
  model.Free(first, 1);
  model.Free(second, 2);
  // They wait side by side, and the one is too young.
  EXPECT_EQ(AddressOf(model, model.Allocate(256, 1)), AddressOf(model, first));
  EXPECT_EQ(model.Allocate(256, 1), kNoChunk);
  model.SetSafeFrontier(3);
  EXPECT_NE(model.Allocate(256, 1), kNoChunk);
}

TEST(BfcModelTest, APoolGoesOnFromWhereItStood) {
  BfcModel model(OneRegion(1024), nullptr, {{4096, 1024}},
                 {{4096, 256, true}, {4352, 512, false}, {4864, 256, true}}, 0);
  EXPECT_EQ(model.in_use_bytes(), 512u);
  EXPECT_EQ(model.largest_free_bytes(), 512u);
  EXPECT_EQ(AddressOf(model, model.Allocate(500)), 4352u);
  EXPECT_EQ(model.Allocate(1), kNoChunk);
  model.Free(2);
  EXPECT_EQ(AddressOf(model, model.Allocate(1)), 4864u);
}

TEST(BfcModelTest, ALimitBelowWhatIsHeldLeavesNothing) {
  BfcModel model(Growing(512), nullptr, {{4096, 1024}}, {{4096, 1024, true}},
                 2048);
  EXPECT_EQ(model.Allocate(1), kNoChunk);
}

TEST(BfcModelTest, TheNextRegionFollowsFromThoseTaken) {
  const BfcSettings settings = Growing(1024 * kMiB);
  EXPECT_EQ(NextRegionBytes(settings, {}), 2 * kMiB);
  EXPECT_EQ(NextRegionBytes(settings, {2 * kMiB, 4 * kMiB}), 8 * kMiB);
  // Enlarged for a request: not doubled after it.
  EXPECT_EQ(NextRegionBytes(settings, {2 * kMiB, 32 * kMiB}), 32 * kMiB);
}

TEST(BfcModelTest, APlaceKnownToHaveBeenTakenIsCutOutOfItsHole) {
  BfcModel model(OneRegion(4096));
  model.Free(model.Allocate(1));
  const uint64_t begin = model.Regions().front().address;
  const ChunkId chunk = model.AllocateAt(begin + 1024, 512);
  ASSERT_NE(chunk, kNoChunk);
  EXPECT_EQ(AddressOf(model, chunk), begin + 1024);
  EXPECT_EQ(model.in_use_bytes(), 512u);
  EXPECT_EQ(model.largest_free_bytes(), 4096u - 1024 - 512);
  EXPECT_EQ(model.AllocateAt(begin + 1024, 256), kNoChunk);
  model.Free(chunk);
  EXPECT_EQ(model.largest_free_bytes(), 4096u);
}

TEST(BfcModelTest, RegionsThatContradictWhatIsHeldAreRefused) {
  BfcModel model(Growing(0));
  EXPECT_TRUE(model.AddRegion({8192, 4096}));
  EXPECT_FALSE(model.AddRegion({8448, 256}));
  EXPECT_FALSE(model.AddRegion({4096, 8192}));
  EXPECT_TRUE(model.AddRegion({4096, 4096}));
  ASSERT_EQ(AddressOf(model, model.Allocate(1)), 4096u);
  EXPECT_FALSE(model.RemoveRegion(4096));
  EXPECT_TRUE(model.RemoveRegion(8192));
  EXPECT_FALSE(model.RemoveRegion(8192));
  EXPECT_EQ(model.reserved_bytes(), 4096u);
}

TEST(BfcModelTest, AnImpossibleLimitDoesNotHangTheModel) {
  BfcModel model(Growing(UINT64_MAX));
  EXPECT_EQ(model.Allocate(UINT64_MAX), kNoChunk);
  EXPECT_EQ(BfcModel(Growing(0)).Allocate(1), kNoChunk);
}

TEST(BfcModelTest, WhatIsTakenBackWasNeverDone) {
  std::mt19937 random(7);
  BfcModel model(Growing(2 * kMiB));
  model.KeepJournal();
  std::vector<ChunkId> live;
  const auto step = [&random, &model](std::vector<ChunkId>* chunks) {
    if (!chunks->empty() && random() % 2 == 0) {
      std::swap((*chunks)[random() % chunks->size()], chunks->back());
      model.Free(chunks->back());
      chunks->pop_back();
      return;
    }
    const ChunkId chunk = model.Allocate(1 + random() % 20000);
    if (chunk != kNoChunk) chunks->push_back(chunk);
  };
  const auto picture = [&model] {
    std::vector<uint64_t> numbers = {model.in_use_bytes(),
                                     model.reserved_bytes(),
                                     model.next_region_bytes()};
    for (const ChunkId id : model.ChunksInOrder()) {
      numbers.push_back(model.chunk(id).address);
      numbers.push_back(model.chunk(id).state == PoolChunk::State::kInUse);
    }
    return numbers;
  };
  for (int round = 0; round < 500; ++round) {
    const std::vector<uint64_t> before = picture();
    const BfcModel::Moment moment = model.Now();
    std::vector<ChunkId> tried = live;
    for (int i = 0; i < 20; ++i) step(&tried);
    model.GoBack(moment);
    ASSERT_EQ(picture(), before);
    model.ForgetPast();
    step(&live);
  }
}

}  // namespace
}  // namespace oom_forensics
