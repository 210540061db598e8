#include "collector/memory_dump.h"

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

TEST(SummarizeMemoryDumpTest, IsZeroForWhatIsNoDump) {
  EXPECT_EQ(SummarizeMemoryDump("").reserved_bytes, 0u);
  EXPECT_EQ(SummarizeMemoryDump("\x1a\xff not a message").reserved_bytes, 0u);
}

}  // namespace
}  // namespace oom_forensics::collector
