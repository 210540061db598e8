#include "converter/forensics/host_memory/host_parts.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

using ::testing::ElementsAre;

HostMemoryTrace MakeMemory(
    const std::vector<std::pair<std::string_view, std::vector<uint64_t>>>&
        quantities) {
  HostMemoryTrace memory;
  for (const auto& [name, bytes] : quantities) {
    HostQuantity& quantity = memory.quantities[std::string(name)];
    quantity.bytes = bytes;
    for (size_t i = 0; i < bytes.size(); ++i) {
      quantity.time_ns.push_back(static_cast<int64_t>(i));
    }
  }
  return memory;
}

std::vector<uint64_t> Part(const std::vector<HostParts>& samples,
                           std::string_view name) {
  size_t index = 0;
  while (HostPartNames()[index] != name) ++index;
  std::vector<uint64_t> part;
  for (const HostParts& parts : samples) part.push_back(parts.bytes[index]);
  return part;
}

TEST(HostPartsTest, ACountOfMallocIsComparedWithTheBlocksOfItsOwnTime) {
  // malloc is counted at the first sample and at the last one.
  const std::vector<HostParts> samples =
      PartsOverTime(MakeMemory({{schema::kHostUsed, {200, 290, 380}},
                                {schema::kRssAnon, {200, 290, 380}},
                                {schema::kHostNative, {50, 140, 230}},
                                {schema::kHostMallocUsed, {120, 120, 310}}}));
  EXPECT_THAT(Part(samples, "native"), ElementsAre(50, 140, 230));
  EXPECT_THAT(Part(samples, "malloc_other"), ElementsAre(70, 70, 80));
  EXPECT_THAT(Part(samples, "unexplained"), ElementsAre(80, 80, 70));
}

TEST(HostPartsTest, PartsAddUpToWhatIsResidentAlsoWhereNotAllIsTouched) {
  const std::vector<HostParts> samples =
      PartsOverTime(MakeMemory({{schema::kHostUsed, {150}},
                                {schema::kRssAnon, {100}},
                                {schema::kRssFile, {30}},
                                {schema::kRssShmem, {5}},
                                {schema::kHostTensors, {80}},
                                {schema::kHostNative, {60}},
                                {schema::kHostMallocFree, {9}}}));
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].used_bytes, 150u);
  EXPECT_EQ(samples[0].resident_bytes, 135u);
  EXPECT_THAT(samples[0].bytes, ElementsAre(80, 0, 20, 0, 0, 0, 0, 30, 5));
}

}  // namespace
}  // namespace oom_forensics
