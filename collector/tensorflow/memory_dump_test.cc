#include "collector/tensorflow/memory_dump.h"

#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>
#include <string>

#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

void AddChunk(std::string* dump, int64_t size, bool in_use) {
  protozero::pbf_writer writer(*dump);
  protozero::pbf_writer chunk(writer, schema::memory_dump::kChunk);
  chunk.add_int64(schema::mem_chunk::kSize, size);
  chunk.add_bool(schema::mem_chunk::kInUse, in_use);
}

TEST(SummarizeMemoryDumpTest, SumsUpChunks) {
  std::string dump;
  AddChunk(&dump, 1000, true);
  AddChunk(&dump, 300, false);
  AddChunk(&dump, 500, false);
  const MemoryDumpSummary summary = SummarizeMemoryDump(dump);
  EXPECT_EQ(summary.reserved_bytes, 1800u);
  EXPECT_EQ(summary.free_bytes, 800u);
  EXPECT_EQ(summary.largest_free_bytes, 500u);
  EXPECT_EQ(summary.chunks_in_use, 1u);
}

TEST(SummarizeMemoryDumpTest, SortsChunksIntoBins) {
  std::string dump;
  AddChunk(&dump, 256, true);
  AddChunk(&dump, 511, false);
  AddChunk(&dump, 512, true);
  AddChunk(&dump, int64_t{1} << 40, false);
  const MemoryDumpSummary summary = SummarizeMemoryDump(dump);
  EXPECT_EQ(summary.bins[0].used_count, 1u);
  EXPECT_EQ(summary.bins[0].free_bytes, 511u);
  EXPECT_EQ(summary.bins[1].used_bytes, 512u);
  EXPECT_EQ(summary.bins[kBinCount - 1].free_count, 1u);
}

TEST(ReplaceAddressesTest, ChangesNothingElse) {
  std::string dump;
  {
    protozero::pbf_writer writer(dump);
    writer.add_string(schema::memory_dump::kAllocatorName, "bfc");
    protozero::pbf_writer chunk(writer, schema::memory_dump::kChunk);
    chunk.add_uint64(schema::mem_chunk::kAddress, 0x7f0000001000);
    chunk.add_int64(schema::mem_chunk::kSize, 4096);
    chunk.add_bool(schema::mem_chunk::kInUse, true);
  }
  const std::string replaced = ReplaceAddresses(
      dump, [](uint64_t address) { return address - 0x7f0000000000; });
  EXPECT_EQ(SummarizeMemoryDump(replaced).in_use_bytes, 4096u);
  ForEachChunk(replaced, [](const MemoryDumpChunk& chunk) {
    EXPECT_EQ(chunk.address, 0x1000u);
  });
  EXPECT_EQ(
      ReplaceAddresses(
          replaced, [](uint64_t address) { return address + 0x7f0000000000; }),
      dump);
}

TEST(SummarizeMemoryDumpTest, IsZeroForWhatIsNoDump) {
  EXPECT_EQ(SummarizeMemoryDump("").reserved_bytes, 0u);
  EXPECT_EQ(SummarizeMemoryDump("\x1a\xff not a message").reserved_bytes, 0u);
}

}  // namespace
}  // namespace oom_forensics::collector
