#include "collector/tensorflow/memory_dump.h"

#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

namespace dump = schema::memory_dump;
namespace chunk = schema::mem_chunk;

MemoryDumpChunk ReadChunk(protozero::pbf_reader fields) {
  MemoryDumpChunk result;
  while (fields.next()) {
    switch (fields.tag()) {
      case chunk::kAddress:
        result.address = fields.get_uint64();
        break;
      case chunk::kSize:
        result.size_bytes = static_cast<uint64_t>(fields.get_int64());
        break;
      case chunk::kRequestedSize:
        result.requested_bytes = static_cast<uint64_t>(fields.get_int64());
        break;
      case chunk::kInUse:
        result.in_use = fields.get_bool();
        break;
      default:
        fields.skip();
    }
  }
  return result;
}

// Appends the varint that `reader` is at to `writer`, as it is.
void CopyVarint(protozero::pbf_reader* reader, protozero::pbf_writer* writer) {
  const auto tag = reader->tag();
  writer->add_uint64(tag, reader->get_uint64());
}

}  // namespace

bool ForEachChunk(std::string_view serialized,
                  const std::function<void(const MemoryDumpChunk&)>& visit) {
  try {
    protozero::pbf_reader reader(serialized.data(), serialized.size());
    while (reader.next(dump::kChunk)) visit(ReadChunk(reader.get_message()));
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

MemoryDumpSummary SummarizeMemoryDump(std::string_view serialized) {
  MemoryDumpSummary summary;
  const bool complete =
      ForEachChunk(serialized, [&](const MemoryDumpChunk& chunk) {
        summary.reserved_bytes += chunk.size_bytes;
        MemoryDumpBin& bin = summary.bins[BinOf(chunk.size_bytes)];
        if (chunk.in_use) {
          ++summary.chunks_in_use;
          summary.in_use_bytes += chunk.size_bytes;
          summary.requested_bytes += chunk.requested_bytes;
          ++bin.used_count;
          bin.used_bytes += chunk.size_bytes;
        } else {
          ++summary.chunks_free;
          summary.free_bytes += chunk.size_bytes;
          summary.largest_free_bytes =
              std::max(summary.largest_free_bytes, chunk.size_bytes);
          ++bin.free_count;
          bin.free_bytes += chunk.size_bytes;
        }
      });
  return complete ? summary : MemoryDumpSummary();
}

std::string ReplaceAddresses(
    std::string_view serialized,
    const std::function<uint64_t(uint64_t address)>& disguise) {
  std::string result;
  try {
    protozero::pbf_writer writer(result);
    protozero::pbf_reader reader(serialized.data(), serialized.size());
    while (reader.next()) {
      if (reader.tag() != dump::kChunk) {
        // The other fields hold no addresses: kept as they are.
        const auto tag = reader.tag();
        if (reader.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
          const protozero::data_view bytes = reader.get_view();
          writer.add_bytes(tag, bytes.data(), bytes.size());
        } else {
          reader.skip();
        }
        continue;
      }
      protozero::pbf_reader fields = reader.get_message();
      protozero::pbf_writer chunk_writer(writer, dump::kChunk);
      while (fields.next()) {
        if (fields.tag() == chunk::kAddress) {
          chunk_writer.add_uint64(chunk::kAddress,
                                  disguise(fields.get_uint64()));
        } else if (fields.has_wire_type(protozero::pbf_wire_type::varint)) {
          CopyVarint(&fields, &chunk_writer);
        } else {
          const auto tag = fields.tag();
          const protozero::data_view bytes = fields.get_view();
          chunk_writer.add_bytes(tag, bytes.data(), bytes.size());
        }
      }
    }
  } catch (const protozero::exception&) {
    return {};
  }
  return result;
}

}  // namespace oom_forensics::collector
