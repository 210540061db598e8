#include "converter/replay/allocator_replay.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "converter/replay/dump_comparison.h"
#include "converter/replay/hole_timeline.h"
#include "converter/testing/trace_builder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/event_schema.h"
#include "protozero/pbf_writer.hpp"

namespace oom_forensics {
namespace {

using test::Ask;
using test::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Ask Bytes(uint64_t bytes) { return {"op", "", 1, bytes, 0}; }

const AllocatorReplay& OnlyAllocator(const Run& run) {
  return *run.Load(0)->allocators().front();
}

std::vector<uint64_t> LiveAddresses(const AllocatorReplay& replay,
                                    Position position) {
  std::vector<uint64_t> addresses;
  for (const Row row : replay.LiveAt(position)) {
    addresses.push_back(replay.trace().address[row]);
  }
  return addresses;
}

TEST(AllocatorReplayTest, AnAllocationLivesFromItsRowToItsFree) {
  TraceBuilder trace;
  trace.Alloc(0x2000, Bytes(256)).Alloc(0x1000, Bytes(512)).Free(0x2000);
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  EXPECT_THAT(LiveAddresses(replay, 0), IsEmpty());
  EXPECT_THAT(LiveAddresses(replay, 1), ElementsAre(0x2000));
  EXPECT_THAT(LiveAddresses(replay, 2), ElementsAre(0x1000, 0x2000));
  EXPECT_THAT(LiveAddresses(replay, 3), ElementsAre(0x1000));
  EXPECT_EQ(replay.EndOf(0), 2u);
  EXPECT_EQ(replay.PartnerOf(2), 0u);
  EXPECT_EQ(replay.EndOf(1), kNoRow);
}

TEST(AllocatorReplayTest, TheBaselineIsLiveBeforeTheFirstEvent) {
  TraceBuilder trace;
  trace.BaselineRegion(0x1000, 0x1000)
      .BaselineChunk(0x1000, Bytes(300), 5'000'000)
      .Free(0x1000);
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  EXPECT_EQ(replay.trace().baseline_rows, 2u);
  EXPECT_THAT(LiveAddresses(replay, 2), ElementsAre(0x1000));
  EXPECT_EQ(replay.usage().At(2).in_use_bytes, 512u);
  EXPECT_EQ(replay.usage().At(2).requested_bytes, 300u);
  EXPECT_EQ(replay.usage().At(2).reserved_bytes, 0x1000u);
  EXPECT_THAT(LiveAddresses(replay, 3), IsEmpty());
  EXPECT_LT(replay.BornPs(1), replay.trace().time_ps[0])
      << "born 5 ms before the recording";
}

TEST(AllocatorReplayTest, TheFirstOfEqualPeaksIsThePeak) {
  TraceBuilder trace;
  trace.Alloc(0x1000, Bytes(256)).Free(0x1000).Alloc(0x2000, Bytes(256));
  const auto run = trace.Open();
  EXPECT_EQ(OnlyAllocator(*run).peak_position(), 1u);
}

TEST(AllocatorReplayTest, AFreeOfAnUnknownAddressIsCountedAndIgnored) {
  TraceBuilder trace;
  trace.Alloc(0x1000, Bytes(256)).Free(0x9000).Free(0x1000).Free(0x1000);
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  EXPECT_EQ(replay.quality().count(QualityCounter::kUnmatchedFree), 2u);
  EXPECT_EQ(replay.free_count(), 3u);
  EXPECT_EQ(replay.usage().At(4).in_use_bytes, 0u);
}

TEST(AllocatorReplayTest, AllocatingALiveAddressEndsTheEarlierOne) {
  TraceBuilder trace;
  trace.Alloc(0x1000, Bytes(1024)).Alloc(0x1000, Bytes(256)).Free(0x1000);
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  EXPECT_EQ(replay.quality().count(QualityCounter::kOverlappingChunks), 1u);
  EXPECT_EQ(replay.EndOf(0), 1u);
  EXPECT_EQ(replay.usage().At(2).in_use_bytes, 256u);
  EXPECT_EQ(replay.usage().At(3).in_use_bytes, 0u);
  EXPECT_EQ(replay.usage().At(3).live_count, 0u);
}

TEST(AllocatorReplayTest, RegionsComeAndGo) {
  TraceBuilder trace;
  trace.Region(0x1000, 0x1000)
      .Region(0x8000, 0x2000)
      .RegionGone(0x1000, 0x1000);
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  EXPECT_EQ(replay.RegionsAt(2).size(), 2u);
  ASSERT_EQ(replay.RegionsAt(3).size(), 1u);
  EXPECT_EQ(replay.RegionsAt(3)[0].address, 0x8000u);
  EXPECT_EQ(replay.usage().At(2).reserved_bytes, 0x3000u);
  EXPECT_EQ(replay.usage().At(3).reserved_bytes, 0x2000u);
}

TEST(AllocatorReplayTest, RegionsAreDerivedWhereNoneIsRecorded) {
  TraceBuilder trace;
  trace.Alloc(0x10000, Bytes(256))
      .Alloc(0x20000, Bytes(256))
      .Alloc(0x7000000000, Bytes(256));
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  EXPECT_TRUE(replay.regions_derived());
  const std::vector<MappedRegion> regions = replay.RegionsAt(0);
  ASSERT_EQ(regions.size(), 2u) << "near ranges are one region, far ones two";
  EXPECT_EQ(regions[0].address, 0x10000u);
  EXPECT_EQ(regions[0].size_bytes, 0x10100u);
  EXPECT_EQ(replay.quality().count(QualityCounter::kRegionsDerived), 1u);
}

TEST(AllocatorReplayTest, WithoutALayoutWhatIsInUseIsHeldAndNoMapIsMade) {
  TraceBuilder trace;
  trace.AllocatorStat(test::U64(schema::kHasLayout, 0));
  trace.Alloc(0x1000, Bytes(256)).Alloc(0x9000000, Bytes(512)).Free(0x1000);
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  EXPECT_FALSE(replay.regions_derived());
  EXPECT_THAT(replay.MapAt(2).chunks, IsEmpty());
  EXPECT_THAT(replay.MapAt(2).regions, IsEmpty());
  EXPECT_EQ(replay.usage().At(2).in_use_bytes, 768u);
  EXPECT_EQ(replay.usage().At(2).reserved_bytes, 768u);
  EXPECT_EQ(replay.usage().At(3).reserved_bytes, 512u);
  EXPECT_EQ(HoleTimeline(replay, 256).At(3).free_bytes, 0u)
      << "what was given back is the driver's";
  const UsageTimeline none(&replay,
                           std::vector<Usage>(replay.host().sites.size()));
  EXPECT_EQ(none.At(3).in_use_bytes, 0u);
  EXPECT_EQ(none.At(3).reserved_bytes, 512u) << "whatever the filter keeps";
  EXPECT_EQ(replay.BytesToPlace(100), 100u);
}

TEST(AllocatorReplayTest, TheMapEqualsADumpChunkForChunk) {
  TraceBuilder trace;
  trace.Region(0x1000, 0x1000).Alloc(0x1000, Bytes(300));
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  const auto dump = [](uint64_t requested) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    const auto chunk = [&](uint64_t address, uint64_t size, uint64_t asked) {
      std::string message;
      protozero::pbf_writer chunk_writer(message);
      chunk_writer.add_uint64(schema::mem_chunk::kAddress, address);
      chunk_writer.add_int64(schema::mem_chunk::kSize,
                             static_cast<int64_t>(size));
      chunk_writer.add_int64(schema::mem_chunk::kRequestedSize,
                             static_cast<int64_t>(asked));
      chunk_writer.add_bool(schema::mem_chunk::kInUse, asked > 0);
      writer.add_bytes(schema::memory_dump::kChunk, message);
    };
    chunk(0x1200, 0xe00, 0);
    chunk(0x1000, 0x200, requested);
    return ParseMemoryDump(bytes);
  };
  EXPECT_EQ(
      CompareWithDump(replay, replay.MapAt(2), dump(300)).different_chunks, 0u);
  const MapDifference wrong =
      CompareWithDump(replay, replay.MapAt(2), dump(301));
  EXPECT_EQ(wrong.different_chunks, 1u);
  EXPECT_EQ(wrong.first,
            "Replayed: 512 bytes (300 requested) in use at 0x1000; "
            "TensorFlow's dump: 512 bytes (301 requested) in use at 0x1000.");
}

// A naive allocator and a naive recorder of every state, against the replay.
class ReplayPropertyTest : public ::testing::TestWithParam<uint32_t> {};

struct NaiveState {
  std::map<uint64_t, uint64_t> live;  // Address to bytes.
};

constexpr uint64_t kRegion = uint64_t{1} << 30;
constexpr uint64_t kUnit = 256;
constexpr uint64_t kUnits = 4096;

uint64_t LargestHole(const NaiveState& state, uint64_t* free_bytes,
                     uint64_t* count) {
  uint64_t cursor = kRegion;
  uint64_t largest = 0;
  *free_bytes = *count = 0;
  const auto hole = [&](uint64_t end) {
    if (end == cursor) return;
    largest = std::max(largest, end - cursor);
    *free_bytes += end - cursor;
    ++*count;
  };
  for (const auto& [address, bytes] : state.live) {
    hole(address);
    cursor = address + bytes;
  }
  hole(kRegion + kUnits * kUnit);
  return largest;
}

TEST_P(ReplayPropertyTest, EveryStateIsWhatANaiveModelSays) {
  std::mt19937 random(GetParam());
  TraceBuilder trace;
  trace.BaselineRegion(kRegion, kUnits * kUnit);
  // Enough rows for several keyframes.
  constexpr int kEvents = 20'000;
  std::vector<NaiveState> states(1);
  NaiveState state;
  while (static_cast<int>(states.size()) <= kEvents) {
    const bool free = !state.live.empty() && random() % 100 < 50;
    if (free) {
      auto victim = state.live.lower_bound(kRegion + random() % kUnits * kUnit);
      if (victim == state.live.end()) victim = state.live.begin();
      trace.Free(victim->first);
      state.live.erase(victim);
    } else {
      const uint64_t first = random() % kUnits;
      const uint64_t units = 1 + random() % 16;
      const uint64_t address = kRegion + first * kUnit;
      const auto next = state.live.lower_bound(address);
      const bool clash =
          first + units > kUnits ||
          (next != state.live.end() && next->first < address + units * kUnit) ||
          (next != state.live.begin() &&
           std::prev(next)->first + std::prev(next)->second > address);
      if (clash) continue;
      trace.Alloc(address, Bytes(units * kUnit));
      state.live[address] = units * kUnit;
    }
    states.push_back(state);
  }
  const auto run = trace.Open();
  const AllocatorReplay& replay = OnlyAllocator(*run);
  const Position base = replay.trace().baseline_rows;
  const HoleTimeline holes(replay, 8 * kUnit);
  const HoleTimeline in_pieces(replay, 8 * kUnit, /*piece_rows=*/1000);
  // Only allocations of this size count.
  constexpr uint64_t kCountedBytes = 4 * kUnit;
  const SiteTable& sites = replay.host().sites;
  std::vector<Usage> by_site(sites.size());
  for (SiteId id = 0; id < sites.size(); ++id) {
    if (sites.Get(id).allocated_bytes == kCountedBytes) {
      by_site[id] = UsageOf(sites.Get(id));
    }
  }
  const UsageTimeline counted(&replay, by_site);
  for (size_t i = 0; i < states.size(); i += 1 + random() % 297) {
    const Position position = base + static_cast<Position>(i);
    std::vector<uint64_t> expected;
    uint64_t in_use = 0;
    for (const auto& [address, bytes] : states[i].live) {
      expected.push_back(address);
      in_use += bytes;
    }
    ASSERT_EQ(LiveAddresses(replay, position), expected) << "position " << i;
    ASSERT_EQ(replay.usage().At(position).in_use_bytes, in_use);
    ASSERT_EQ(replay.usage().At(position).live_count, expected.size());
    uint64_t free_bytes = 0;
    uint64_t count = 0;
    const uint64_t largest = LargestHole(states[i], &free_bytes, &count);
    ASSERT_EQ(holes.At(position).largest_free_bytes, largest);
    ASSERT_EQ(holes.At(position).free_bytes, free_bytes);
    ASSERT_EQ(holes.At(position).free_chunk_count, count);
    ASSERT_EQ(in_pieces.At(position).largest_free_bytes, largest);
    ASSERT_EQ(in_pieces.At(position).free_bytes, free_bytes);
    ASSERT_EQ(in_pieces.At(position).free_chunk_count, count);
    ASSERT_EQ(in_pieces.At(position).unusable_bytes,
              holes.At(position).unusable_bytes);
    const auto of_size = static_cast<uint64_t>(std::count_if(
        states[i].live.begin(), states[i].live.end(),
        [](const auto& chunk) { return chunk.second == kCountedBytes; }));
    ASSERT_EQ(counted.At(position).live_count, of_size);
    ASSERT_EQ(counted.At(position).in_use_bytes, of_size * kCountedBytes);
    const ChunkMap map = replay.MapAt(position);
    ASSERT_EQ(map.largest_free_bytes, largest);
    ASSERT_EQ(map.free_bytes, free_bytes);
    ASSERT_EQ(map.free_chunk_count, count);
  }
  std::vector<Usage> usages;
  for (Position p = 0; p < states.size(); ++p) {
    usages.push_back(replay.usage().At(base + p));
  }
  for (int i = 0; i < 100; ++i) {
    Position begin = static_cast<Position>(random() % states.size());
    Position end = static_cast<Position>(random() % states.size());
    if (begin > end) std::swap(begin, end);
    UsageExtremes expected;
    expected.in_use_min_bytes = UINT64_MAX;
    uint64_t worst = UINT64_MAX;
    for (Position p = begin; p <= end; ++p) {
      expected.Include(usages[p], base + p);
      worst = std::min(worst, holes.At(base + p).largest_free_bytes);
    }
    const UsageExtremes got = replay.usage().Over(base + begin, base + end);
    ASSERT_EQ(got.in_use_min_bytes, expected.in_use_min_bytes);
    ASSERT_EQ(got.in_use_max_bytes, expected.in_use_max_bytes);
    ASSERT_EQ(got.live_max_count, expected.live_max_count);
    ASSERT_EQ(replay.usage().At(got.in_use_max_position).in_use_bytes,
              got.in_use_max_bytes);
    ASSERT_EQ(
        holes.At(holes.WorstOver(base + begin, base + end)).largest_free_bytes,
        worst);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReplayPropertyTest,
                         ::testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace oom_forensics
