#include "converter/replay/dump_comparison.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "converter/reader/wire.h"
#include "proto/event_schema.h"

namespace oom_forensics {
namespace {

DumpedChunk ParseChunk(FieldReader reader) {
  DumpedChunk chunk;
  while (reader.next()) {
    switch (reader.tag()) {
      case schema::mem_chunk::kAddress:
        chunk.address = reader.get_uint64();
        break;
      case schema::mem_chunk::kSize:
        chunk.size_bytes = reader.get_uint64();
        break;
      case schema::mem_chunk::kRequestedSize:
        chunk.requested_bytes = reader.get_uint64();
        break;
      case schema::mem_chunk::kOpName:
        chunk.op_name = std::string(View(reader.get_view()));
        break;
      case schema::mem_chunk::kInUse:
        chunk.in_use = reader.get_bool();
        break;
      case schema::mem_chunk::kStepId:
        chunk.step_id = reader.get_uint64();
        break;
      default:
        reader.skip();
    }
  }
  return chunk;
}

std::string Words(uint64_t address, uint64_t size, uint64_t requested,
                  bool in_use) {
  return in_use ? absl::StrCat(size, " bytes (", requested,
                               " requested) in use at 0x", absl::Hex(address))
                : absl::StrCat(size, " bytes free at 0x", absl::Hex(address));
}

}  // namespace

std::vector<DumpedChunk> ParseMemoryDump(std::string_view dump) {
  std::vector<DumpedChunk> chunks;
  try {
    FieldReader reader(dump);
    while (reader.next()) {
      if (reader.tag() == schema::memory_dump::kChunk) {
        chunks.push_back(ParseChunk(FieldReader(View(reader.get_view()))));
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    chunks.clear();
  }
  std::sort(chunks.begin(), chunks.end(),
            [](const DumpedChunk& a, const DumpedChunk& b) {
              return a.address < b.address;
            });
  return chunks;
}

MapDifference CompareWithDump(const AllocatorReplay& replay,
                              const ChunkMap& map,
                              const std::vector<DumpedChunk>& dump) {
  MapDifference difference;
  difference.dumped_chunks = dump.size();
  const auto differ = [&difference](const std::string& words) {
    ++difference.different_chunks;
    if (difference.first.empty()) difference.first = words;
  };
  const auto requested = [&replay](const MappedChunk& chunk) {
    return chunk.is_free() ? 0 : replay.SiteOf(chunk.row).requested_bytes;
  };
  size_t i = 0;
  size_t j = 0;
  while (i < map.chunks.size() || j < dump.size()) {
    const MappedChunk* ours = i < map.chunks.size() ? &map.chunks[i] : nullptr;
    const DumpedChunk* theirs = j < dump.size() ? &dump[j] : nullptr;
    if (theirs == nullptr ||
        (ours != nullptr && ours->address < theirs->address)) {
      differ(absl::StrCat("Only replayed: ",
                          Words(ours->address, ours->size_bytes,
                                requested(*ours), !ours->is_free()),
                          "."));
      ++i;
      continue;
    }
    if (ours == nullptr || theirs->address < ours->address) {
      differ(absl::StrCat("Only in TensorFlow's dump: ",
                          Words(theirs->address, theirs->size_bytes,
                                theirs->requested_bytes, theirs->in_use),
                          "."));
      ++j;
      continue;
    }
    const bool equal =
        ours->size_bytes == theirs->size_bytes &&
        ours->is_free() != theirs->in_use &&
        (!theirs->in_use || requested(*ours) == theirs->requested_bytes);
    if (!equal) {
      differ(absl::StrCat("Replayed: ",
                          Words(ours->address, ours->size_bytes,
                                requested(*ours), !ours->is_free()),
                          "; TensorFlow's dump: ",
                          Words(theirs->address, theirs->size_bytes,
                                theirs->requested_bytes, theirs->in_use),
                          "."));
    }
    ++i;
    ++j;
  }
  return difference;
}

}  // namespace oom_forensics
