#include "converter/replay/chunk_map.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using ::testing::ElementsAre;

MappedRegion RegionAt(uint64_t address, uint64_t size_bytes) {
  MappedRegion region;
  region.address = address;
  region.size_bytes = size_bytes;
  return region;
}

// "0x1000+256 #3" or "0x1000+256 free", in region order.
std::vector<std::string> Describe(const ChunkMap& map) {
  std::vector<std::string> words;
  for (const MappedChunk& chunk : map.chunks) {
    words.push_back(absl::StrCat(
        "0x", absl::Hex(chunk.address), "+", chunk.size_bytes,
        chunk.is_free() ? " free" : absl::StrCat(" #", chunk.row)));
  }
  return words;
}

TEST(ChunkMapTest, HolesAreTheGapsBetweenChunks) {
  const ChunkMap map = BuildChunkMap({RegionAt(0x1000, 0x1000)},
                                     {{0x1100, 0x100, 7}, {0x1400, 0x200, 9}});
  EXPECT_THAT(Describe(map),
              ElementsAre("0x1000+256 free", "0x1100+256 #7", "0x1200+512 free",
                          "0x1400+512 #9", "0x1600+2560 free"));
  EXPECT_EQ(map.reserved_bytes, 0x1000u);
  EXPECT_EQ(map.free_bytes, 256u + 512 + 2560);
  EXPECT_EQ(map.largest_free_bytes, 2560u);
  EXPECT_EQ(map.free_chunk_count, 3u);
}

TEST(ChunkMapTest, HolesOfTouchingRegionsStayApart) {
  const ChunkMap map =
      BuildChunkMap({RegionAt(0x1000, 0x1000), RegionAt(0x2000, 0x1000)}, {});
  EXPECT_THAT(Describe(map),
              ElementsAre("0x1000+4096 free", "0x2000+4096 free"));
  EXPECT_EQ(map.largest_free_bytes, 0x1000u);
}

TEST(ChunkMapTest, AChunkAcrossTouchingRegionsMakesThemOne) {
  const ChunkMap map =
      BuildChunkMap({RegionAt(0x1000, 0x1000), RegionAt(0x2000, 0x1000)},
                    {{0x1f00, 0x200, 1}});
  EXPECT_EQ(map.regions.size(), 1u);
  EXPECT_THAT(Describe(map), ElementsAre("0x1000+3840 free", "0x1f00+512 #1",
                                         "0x2100+3840 free"));
  EXPECT_EQ(map.outside_count, 0u);
}

TEST(ChunkMapTest, AChunkOutsideAllRegionsGetsItsOwn) {
  const ChunkMap map =
      BuildChunkMap({RegionAt(0x1000, 0x100)}, {{0x9000, 0x100, 1}});
  ASSERT_EQ(map.regions.size(), 2u);
  EXPECT_FALSE(map.regions[0].derived);
  EXPECT_TRUE(map.regions[1].derived);
  EXPECT_EQ(map.outside_count, 1u);
}

TEST(ChunkMapTest, OverlappingChunksAreCutAndCounted) {
  const ChunkMap map = BuildChunkMap({RegionAt(0x1000, 0x1000)},
                                     {{0x1000, 0x400, 1}, {0x1200, 0x400, 2}});
  EXPECT_THAT(Describe(map), ElementsAre("0x1000+1024 #1", "0x1400+512 #2",
                                         "0x1600+2560 free"));
  EXPECT_EQ(map.overlap_count, 1u);
}

TEST(ChunkMapTest, ARegionMayReachToTheLastAddress) {
  const uint64_t last = std::numeric_limits<uint64_t>::max();
  const ChunkMap map = BuildChunkMap({RegionAt(last - 0xfff, 0x1000)},
                                     {{last - 0xff, 0x100, 4}});
  EXPECT_THAT(Describe(map), ElementsAre("0xfffffffffffff000+3840 free",
                                         "0xffffffffffffff00+256 #4"));
}

}  // namespace
}  // namespace oom_forensics
