#include "collector/flight_recorder/refusal.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

#include "collector/flight_recorder/summary.h"
#include "collector/recording/recorder.h"
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kPool = uint64_t{1} << 40;

std::optional<DeviceNumbers> NoDevice(const AllocatorInfo&) { return {}; }

void AddChunk(std::string* dump, uint64_t address, uint64_t size, bool in_use) {
  protozero::pbf_writer writer(*dump);
  protozero::pbf_writer chunk(writer, schema::memory_dump::kChunk);
  chunk.add_uint64(schema::mem_chunk::kAddress, address);
  chunk.add_int64(schema::mem_chunk::kSize, static_cast<int64_t>(size));
  chunk.add_bool(schema::mem_chunk::kInUse, in_use);
}

// A pool of 100 MiB, all of it reserved: 70 MiB in use, two holes of 15 MiB.
class RefusalTest : public testing::Test {
 protected:
  RefusalTest() {
    Alloc(1, "dense/MatMul", 50 * kMiB);
    Alloc(2, "dense/Relu", 10 * kMiB);
    Alloc(3, "dense/Relu", 10 * kMiB);
    Alloc(4, "gone", 1 * kMiB);
    recorder_.RecordFree(0, reinterpret_cast<void*>(4 << 8), 1);
  }

  SiteId MakeSite(std::string_view op, uint64_t bytes) {
    SiteKey key;
    key.op = op;
    key.shape = "[8,16]";
    key.dtype = 1;
    key.requested_bytes = bytes;
    key.allocated_bytes = bytes;
    return recorder_.sites().Intern(key)->id;
  }

  void Alloc(uint64_t number, std::string_view op, uint64_t bytes) {
    recorder_.RecordAlloc(0, reinterpret_cast<void*>(number << 8),
                          MakeSite(op, bytes), 42, 1);
  }

  // Of an allocator that has no pool, and so no chunk map.
  Refusal FailWithoutPool(uint64_t bytes) {
    Failure failure;
    failure.sequence =
        recorder_.RecordFailure(0, MakeSite("dense_1/MatMul", bytes), 42, 1);
    failure.statistics =
        AllocatorStatistics{4, 70 * kMiB, 71 * kMiB, 50 * kMiB, 0};
    recorder_.failures().Add(failure);
    AllocatorState state;
    state.info.name = "direct";
    state.info.has_layout = false;
    return FindRefusal(*recorder_.Recent(), recorder_.sites().Snapshot(),
                       {state}, NoDevice, failure.sequence);
  }

  Refusal Fail(uint64_t bytes) {
    Failure failure;
    failure.sequence =
        recorder_.RecordFailure(0, MakeSite("dense_1/MatMul", bytes), 42, 1);
    failure.statistics =
        AllocatorStatistics{4, 70 * kMiB, 71 * kMiB, 50 * kMiB, 100 * kMiB};
    AddChunk(&failure.memory_dump, kPool, 50 * kMiB, true);
    AddChunk(&failure.memory_dump, kPool + 50 * kMiB, 15 * kMiB, false);
    AddChunk(&failure.memory_dump, kPool + 65 * kMiB, 20 * kMiB, true);
    AddChunk(&failure.memory_dump, kPool + 85 * kMiB, 15 * kMiB, false);
    recorder_.failures().Add(failure);
    // What happens afterwards is not part of the refusal.
    Alloc(9, "later", 1 * kMiB);
    AllocatorState state;
    state.info.name = "pool";
    return FindRefusal(*recorder_.Recent(), recorder_.sites().Snapshot(),
                       {state}, NoDevice, failure.sequence);
  }

  void Region(uint64_t offset_bytes, uint64_t size_bytes) {
    recorder_.RecordRegion(RecordedKind::kRegionAdd, 0,
                           reinterpret_cast<void*>(kPool + offset_bytes),
                           size_bytes, 1);
  }

  Recorder recorder_{Settings{}};
};

TEST_F(RefusalTest, TellsALackOfMemoryFromMemoryInPieces) {
  EXPECT_STREQ(Fail(20 * kMiB).placement.kind, "FRAGMENTATION");
  EXPECT_STREQ(Fail(30 * kMiB).placement.kind, "FRAGMENTATION");
  EXPECT_STREQ(Fail(31 * kMiB).placement.kind, "CAPACITY");
}

TEST_F(RefusalTest, TellsGapsOfOneRegionFromThoseOfSeveral) {
  Region(0, 65 * kMiB);
  Region(65 * kMiB, 35 * kMiB);
  EXPECT_STREQ(Fail(20 * kMiB).placement.kind, "GROWTH_REGIONS");
}

TEST_F(RefusalTest, SumsUpWhoHoldsWhatAtThatMoment) {
  const Refusal refusal = Fail(20 * kMiB);
  ASSERT_EQ(refusal.holders.size(), 2u);
  EXPECT_EQ(refusal.holders[0].site.op, "dense/MatMul");
  EXPECT_EQ(refusal.holders[0].allocated_bytes, 50 * kMiB);
  EXPECT_EQ(refusal.holders[1].site.op, "dense/Relu");
  EXPECT_EQ(refusal.holders[1].count, 2u);
}

TEST_F(RefusalTest, IsSummedUpInThreeLines) {
  const std::vector<std::string> lines = SummaryLines(Fail(20 * kMiB));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "dense_1/MatMul asked pool#0 for 20.0 MiB (float32 [8,16]) and did "
            "not get it.");
  EXPECT_EQ(lines[1],
            "70.0 MiB of 100.0 MiB in use. Enough memory was free, but not in "
            "one piece: 30.0 MiB lay in 2 separate gaps, the largest of them "
            "15.0 MiB, and 20.0 MiB need one piece.");
  EXPECT_EQ(lines[2],
            "Largest holders: 50.0 MiB in 1 of dense/MatMul (float32 [8,16]); "
            "20.0 MiB in 2 of dense/Relu (float32 [8,16]).");
}

TEST_F(RefusalTest, SaysThatOnlyTheDriverKnowsWhatIsFreeWithoutAPool) {
  const Refusal refusal = FailWithoutPool(20 * kMiB);
  EXPECT_STREQ(refusal.placement.kind, "UNKNOWN");
  EXPECT_EQ(SummaryLines(refusal)[1],
            "70.0 MiB in use. The device's driver refused 20.0 MiB; how much "
            "was left, and in what pieces, it does not say.");
}

TEST_F(RefusalTest, TellsTheRegionsOfEachPoolBeforeAnEvent) {
  const auto record = [&](RecordedKind kind, AllocatorId pool,
                          uint64_t offset_bytes) {
    recorder_.RecordRegion(kind, pool,
                           reinterpret_cast<void*>(kPool + offset_bytes),
                           10 * kMiB, 1);
  };
  record(RecordedKind::kRegionAdd, 0, 0);
  record(RecordedKind::kRegionAdd, 1, 10 * kMiB);
  record(RecordedKind::kRegionAdd, 1, 20 * kMiB);
  record(RecordedKind::kRegionRemove, 1, 10 * kMiB);
  const uint64_t sequence =
      recorder_.RecordFailure(0, MakeSite("dense_1/MatMul", kMiB), 42, 1);
  record(RecordedKind::kRegionAdd, 0, 30 * kMiB);
  const RegionsByPool regions = RegionsBefore(*recorder_.Recent(), sequence);
  using Regions = std::map<uint64_t, uint64_t>;
  EXPECT_EQ(regions.at(0), (Regions{{kPool, 10 * kMiB}}));
  EXPECT_EQ(regions.at(1), (Regions{{kPool + 20 * kMiB, 10 * kMiB}}));
}

TEST_F(RefusalTest, NamesTheTrainingStep) {
  recorder_.RecordStep(12, 1);
  const Refusal refusal = Fail(20 * kMiB);
  EXPECT_EQ(refusal.training_step, 12);
  EXPECT_EQ(SummaryLines(refusal)[0],
            "dense_1/MatMul asked pool#0 for 20.0 MiB (float32 [8,16]) in step "
            "12 and did not get it.");
}

}  // namespace
}  // namespace oom_forensics::collector
