// The seeds of the fuzzers, and thousands of damaged copies of them, in every
// build: what a fuzzer finds first is found here.
#include "converter/fuzz/fuzz_targets.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "converter/fuzz/cost_limit.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

std::vector<std::string> Seeds(const std::string& name) {
  std::vector<std::string> seeds;
  for (const auto& entry :
       std::filesystem::directory_iterator("converter/fuzz/corpus/" + name)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file),
                       std::istreambuf_iterator<char>());
  }
  return seeds;
}

// Flips bits, overwrites with extremes, cuts, repeats.
std::string Damaged(std::string bytes, std::mt19937* random) {
  const auto below = [random](size_t n) { return (*random)() % n; };
  for (size_t i = 0; i <= below(4) && !bytes.empty(); ++i) {
    const size_t at = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(0xff);
        break;
      case 2:
        bytes[at] = 0;
        break;
      case 3:
        bytes.resize(at);
        break;
      default:
        bytes.insert(at, bytes.substr(at, below(40)));
    }
  }
  return bytes;
}

class FuzzTargetsTest : public ::testing::TestWithParam<const char*> {};

TEST_P(FuzzTargetsTest, SurvivesItsSeedsAndDamagedCopiesOfThem) {
  const std::string name = GetParam();
  const std::vector<std::string> seeds = Seeds(name);
  ASSERT_FALSE(seeds.empty());
  std::mt19937 random(7);
  constexpr int kCopies = 150;
  for (const std::string& seed : seeds) {
    for (int i = 0; i < kCopies; ++i) {
      const std::string bytes = i == 0 ? seed : Damaged(seed, &random);
      if (name == "trace") {
        FuzzTrace(bytes);
      } else if (name == "box") {
        FuzzBox(bytes);
      } else {
        FuzzRequest(bytes);
      }
    }
  }
}

// There are none in WebAssembly.
#if GTEST_HAS_DEATH_TEST
TEST(CostLimitDeathTest, MemoryBeyondProportionEndsIt) {
  EXPECT_DEATH(
      {
        const CostLimit limit(100);
        const std::string much(size_t{1} << 30, 'x');
      },
      "An input of 100 bytes took");
}
#endif

INSTANTIATE_TEST_SUITE_P(Targets, FuzzTargetsTest,
                         ::testing::Values("trace", "request", "box"));

}  // namespace
}  // namespace oom_forensics
