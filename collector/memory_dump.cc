#include "collector/memory_dump.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>

#include "proto/event_schema.h"

namespace oom_forensics::collector {

MemoryDumpSummary SummarizeMemoryDump(std::string_view serialized) {
  namespace dump = schema::memory_dump;
  namespace chunk = schema::mem_chunk;
  MemoryDumpSummary summary;
  try {
    protozero::pbf_reader reader(serialized.data(), serialized.size());
    while (reader.next(dump::kChunk)) {
      protozero::pbf_reader fields = reader.get_message();
      uint64_t size = 0;
      bool in_use = false;
      while (fields.next()) {
        switch (fields.tag()) {
          case chunk::kSize:
            size = static_cast<uint64_t>(fields.get_int64());
            break;
          case chunk::kInUse:
            in_use = fields.get_bool();
            break;
          default:
            fields.skip();
        }
      }
      summary.reserved_bytes += size;
      if (in_use) {
        ++summary.chunks_in_use;
      } else {
        summary.free_bytes += size;
        summary.largest_free_bytes = std::max(summary.largest_free_bytes, size);
      }
    }
  } catch (const protozero::exception&) {
    return {};
  }
  return summary;
}

}  // namespace oom_forensics::collector
