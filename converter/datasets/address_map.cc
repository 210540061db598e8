#include "converter/datasets/address_map.h"

#include <array>
#include <utility>

#include "converter/compiled/chunk_parts.h"
#include "converter/datasets/answer_parts.h"
#include "converter/trace/op_name.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

void FillRegions(const ChunkMap& map, AddressMap* message) {
  for (const MappedRegion& region : map.regions) {
    Region* out = message->add_regions();
    out->set_address(region.address);
    out->set_size_bytes(region.size_bytes);
    out->set_free_bytes(region.free_bytes);
    out->set_largest_free_bytes(region.largest_free_bytes);
    out->set_chunk_count(region.chunk_count);
  }
}

void FillBins(const AllocatorReplay& replay, const ChunkMap& map,
              AddressMap* message) {
  std::array<Bin, kBinCount> bins;
  for (const MappedChunk& chunk : map.chunks) {
    Bin& bin = bins[BinOf(chunk.size_bytes)];
    if (chunk.is_free()) {
      bin.set_free_count(bin.free_count() + 1);
      bin.set_free_bytes(bin.free_bytes() + chunk.size_bytes);
    } else {
      bin.set_used_count(bin.used_count() + 1);
      bin.set_used_bytes(bin.used_bytes() + chunk.size_bytes);
      bin.set_requested_bytes(bin.requested_bytes() +
                              replay.SiteOf(chunk.row).requested_bytes);
    }
  }
  for (uint32_t i = 0; i < kBinCount; ++i) {
    bins[i].set_index(i);
    bins[i].set_min_bytes(MinBytesOfBin(i));
    *message->add_bins() = bins[i];
  }
}

// As the filter of allocations, where a part is no site of its own.
bool KeepsPart(const Filter& filter, const Allocation& part) {
  return part.allocated_bytes() >= filter.min_bytes() &&
         IsInScope(part.op_name(), filter.scope());
}

// What lies in a block at its own peak, or at the point that is asked for.
void OpenBlock(const SelectedAllocator& allocator, const RowPredicate& keeps,
               Row row, const Query& query, Chunk* chunk) {
  const HostTrace& host = allocator.host->trace();
  const CompiledRequest& request =
      *host.CompiledOf(allocator.replay->SiteOf(row));
  const CompiledModule& module = *host.ModuleOf(request);
  const CompiledAllocation& block = *host.AllocationOf(request);
  ProgramPoint point = block.peak;
  const bool chosen = query.has_program_point() &&
                      query.program_point() < module.program.size() &&
                      query.module() == module.name;
  if (chosen) point = query.program_point();
  CompiledBlock* message = chunk->mutable_allocation()->mutable_compiled();
  message->set_program_points(static_cast<uint32_t>(module.program.size()));
  message->set_program_point(point);
  if (point < module.program.size()) {
    message->set_program_point_op(module.program[point].op_name);
  }
  if (point == block.peak) {
    keeps.ForEachPart(row, [&](const AllocationPart& part) {
      *chunk->add_parts() = MakePart(allocator, part);
    });
    return;
  }
  int32_t number = 0;
  for (const ChunkPart& lies : PartsOfChunk(
           allocator.replay->SiteOf(row), message->function(), block, point)) {
    Allocation part = MakePartAtPoint(allocator, row, block, lies, number++);
    if (KeepsPart(query.filter(), part)) *chunk->add_parts() = std::move(part);
  }
}

}  // namespace

void FillAddressMap(const SelectedAllocator& allocator, Position position,
                    const Query& query, AddressMap* message) {
  const AllocatorReplay& replay = *allocator.replay;
  const AllocatorTrace& trace = replay.trace();
  const ChunkMap map = replay.MapAt(position);
  const RowPredicate keeps(allocator, query.filter(), BirthRule::kFiltered);
  message->set_host(allocator.host->trace().host);
  message->set_allocator(trace.name);
  message->set_time_ns(allocator.host->trace().ToNs(replay.TimePsOf(position)));
  message->set_event(EventBefore(trace, position));
  if (!trace.has_layout) return;
  message->set_regions_derived(replay.regions_derived());
  FillRegions(map, message);
  FillBins(replay, map, message);
  for (const MappedChunk& chunk : map.chunks) {
    Chunk* out = message->add_chunks();
    out->set_address(chunk.address);
    out->set_size_bytes(chunk.size_bytes);
    out->set_free(chunk.is_free());
    out->set_bin(BinOf(chunk.size_bytes));
    out->set_region(chunk.region);
    if (!chunk.is_free() && keeps(chunk.row)) {
      *out->mutable_allocation() = MakeAllocation(allocator, chunk.row);
      if (keeps.OpenedParts(trace.site[chunk.row]) != nullptr) {
        OpenBlock(allocator, keeps, chunk.row, query, out);
      }
    }
  }
  const uint64_t request =
      RequestForMeasures(replay, position, query.request_bytes());
  *message->mutable_measures() =
      MakeMeasures(replay, position, HolesOf(map, request), request);
}

}  // namespace oom_forensics
