#include "core/free_space.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(FreeSpaceTest, TheRegionWithMostFreeMemoryIsFoundWhateverTheOrder) {
  FreeSpaceCounter counter({{4096, 1024}, {0, 2048}});
  counter.AddFreeChunk(4096, 512);
  counter.AddFreeChunk(256, 256);
  counter.AddFreeChunk(1024, 512);
  const FreeSpace free = counter.Total();
  EXPECT_EQ(free.free_bytes, 1280u);
  EXPECT_EQ(free.free_chunk_count, 3u);
  EXPECT_EQ(free.largest_free_bytes, 512u);
  EXPECT_EQ(free.region_count, 2u);
  EXPECT_EQ(free.most_free_region_bytes, 768u);
}

TEST(FreeSpaceTest, AChunkOutsideOfAllRegionsMakesThemUnknown) {
  FreeSpaceCounter counter({{4096, 1024}});
  counter.AddFreeChunk(4096, 512);
  counter.AddFreeChunk(8192, 256);
  EXPECT_EQ(counter.Total().region_count, 0u);
  EXPECT_EQ(counter.Total().most_free_region_bytes, 768u);
}

TEST(FreeSpaceTest, AFullPoolHasRegionsAndNothingFree) {
  const FreeSpace free = FreeSpaceCounter({{0, 1024}}).Total();
  EXPECT_EQ(free.region_count, 1u);
  EXPECT_EQ(free.free_bytes, 0u);
}

}  // namespace
}  // namespace oom_forensics
