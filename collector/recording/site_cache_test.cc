#include "collector/recording/site_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace oom_forensics::collector {
namespace {

SiteKey KeyOf(std::string_view op, uint64_t bytes) {
  SiteKey key;
  key.op = op;
  key.region_type = "output";
  key.requested_bytes = bytes;
  key.allocated_bytes = bytes;
  return key;
}

TEST(SiteCacheTest, FindsWhatTheInternerHas) {
  SiteInterner sites;
  SiteCache cache;
  // More than it has places.
  for (int round = 0; round < 3; ++round) {
    for (uint64_t bytes = 1; bytes <= 1000; ++bytes) {
      const SiteKey key = KeyOf("dense/MatMul", bytes);
      EXPECT_EQ(cache.Intern(key, &sites), sites.Intern(key));
    }
  }
  EXPECT_EQ(sites.Snapshot().size(), 1000u);
}

// TensorFlow frees the names of a function's ops with the function.
TEST(SiteCacheTest, IsNotMisledByAnotherTextAtTheSameAddress) {
  SiteInterner sites;
  SiteCache cache;
  std::string text = "dense/MatMul";
  const Site* const first = cache.Intern(KeyOf(text, 256), &sites);
  text.replace(0, 5, "other");
  const Site* const second = cache.Intern(KeyOf(text, 256), &sites);
  EXPECT_EQ(first->key.op, "dense/MatMul");
  EXPECT_EQ(second->key.op, "other/MatMul");
}

TEST(SiteCacheTest, TellsApartWhatDiffersInOneField) {
  SiteInterner sites;
  SiteCache cache;
  const std::string op = "dense/MatMul";
  const SiteKey key = KeyOf(op, 256);
  const Site* const site = cache.Intern(key, &sites);
  SiteKey other = key;
  other.allocated_bytes = 512;
  EXPECT_NE(cache.Intern(other, &sites), site);
  other = key;
  other.mode = ExecutionMode::kGraph;
  EXPECT_NE(cache.Intern(other, &sites), site);
  other = key;
  other.stack = 3;
  EXPECT_NE(cache.Intern(other, &sites), site);
  other = key;
  other.compiled.module = "jit_step";
  EXPECT_NE(cache.Intern(other, &sites), site);
  EXPECT_EQ(cache.Intern(key, &sites), site);
}

// What has no room keeps being counted.
TEST(SiteCacheTest, CountsEachTimeASiteOfSizesStandsIn) {
  SiteInterner sites(8);
  SiteCache cache;
  for (uint64_t bytes = 1; bytes <= 7; ++bytes) {
    cache.Intern(KeyOf("dense/MatMul", bytes), &sites);
  }
  const uint64_t before = sites.unnamed();
  const SiteKey late = KeyOf("late/MatMul", 256);
  EXPECT_TRUE(cache.Intern(late, &sites)->key.op.empty());
  EXPECT_TRUE(cache.Intern(late, &sites)->key.op.empty());
  EXPECT_EQ(sites.unnamed(), before + 2);
}

}  // namespace
}  // namespace oom_forensics::collector
