#include "converter/datasets/what_if_course.h"

#include <algorithm>

#include "converter/datasets/address_map.h"
#include "converter/datasets/answer_parts.h"
#include "core/bfc.h"

namespace oom_forensics {
namespace {

const AllocatorReplay& ReplayOf(const WhatIfPool& pool) {
  return *pool.allocator().replay;
}

uint64_t LastedNs(const WhatIfPool& pool, Row refused) {
  const AllocatorTrace& trace = ReplayOf(pool).trace();
  if (pool.from() >= trace.row_count()) return 0;
  const int64_t begin_ps = trace.time_ps[pool.from()];
  const int64_t end_ps =
      refused == kNoRow ? trace.time_ps.back() : trace.time_ps[refused];
  return static_cast<uint64_t>(std::max<int64_t>(0, end_ps - begin_ps)) / 1000;
}

void FillRefused(const WhatIfPool& pool, Row row, uint64_t bytes,
                 WhatIfCourse* course) {
  const AllocatorTrace& trace = ReplayOf(pool).trace();
  const HostTrace& host = ReplayOf(pool).host();
  *course->mutable_refused() = MakeRequest(pool.allocator(), row, bytes);
  course->set_refused_ns(host.ToNs(trace.time_ps[row]));
  course->set_refused_event(trace.EventOf(row));
}

void FillSettings(const WhatIfPool& pool, const Scenario& scenario,
                  WhatIfCourse* course) {
  const BfcSettings& settings = pool.settings();
  course->set_growth((settings.allow_growth && !scenario.one_region) ||
                     scenario.grows);
  course->set_garbage_collection(
      scenario.garbage_collection.value_or(settings.garbage_collection));
}

void FillMap(const WhatIfPool& pool, const Simulation& run, AddressMap* map) {
  const AllocatorTrace& trace = ReplayOf(pool).trace();
  map->set_host(pool.allocator().host->trace().host);
  map->set_allocator(trace.name);
  for (const BfcRegion& region : run.regions) {
    Region* out = map->add_regions();
    out->set_address(region.address);
    out->set_size_bytes(region.size_bytes);
  }
  int region = 0;
  for (const SimulatedChunk& chunk : run.chunks) {
    while (region + 1 < map->regions_size() &&
           chunk.address >= map->regions(region + 1).address()) {
      ++region;
    }
    Region* in = map->mutable_regions(region);
    in->set_chunk_count(in->chunk_count() + 1);
    Chunk* out = map->add_chunks();
    out->set_address(chunk.address);
    out->set_size_bytes(chunk.size_bytes);
    out->set_free(chunk.row == kNoRow);
    out->set_bin(BinOf(chunk.size_bytes));
    out->set_region(static_cast<uint32_t>(region));
    if (chunk.row == kNoRow) {
      in->set_free_bytes(in->free_bytes() + chunk.size_bytes);
      in->set_largest_free_bytes(
          std::max(in->largest_free_bytes(), chunk.size_bytes));
    } else if (trace.kind_of[chunk.row] == RowKind::kAlloc) {
      *out->mutable_allocation() = MakeAllocation(pool.allocator(), chunk.row);
    }
  }
}

}  // namespace

WhatIfCourse RecordedCourse(const WhatIfPool& pool, Position at,
                            bool with_map) {
  const AllocatorReplay& replay = ReplayOf(pool);
  const std::vector<Position>& failures = replay.failure_positions();
  const Row refused = failures.empty() ? kNoRow : failures.front();
  WhatIfCourse course;
  course.set_fits(failures.empty());
  if (refused != kNoRow) {
    FillRefused(pool, refused, replay.SiteOf(refused).requested_bytes, &course);
  }
  course.set_lasted_ns(LastedNs(pool, refused));
  const UsageExtremes usage =
      replay.usage().Over(pool.from(), replay.end_position());
  course.set_peak_in_use_bytes(usage.in_use_max_bytes);
  course.set_peak_reserved_bytes(usage.reserved_max_bytes);
  const ChunkMap map = replay.MapAt(at);
  course.set_in_use_bytes(replay.usage().At(at).in_use_bytes);
  course.set_free_bytes(map.free_bytes);
  course.set_largest_free_bytes(map.largest_free_bytes);
  course.set_limit_bytes(pool.recorded_limit_bytes());
  FillSettings(pool, {}, &course);
  if (with_map) {
    // As in the other map: a block that changes in size has no known inside.
    Query query;
    query.mutable_filter()->set_whole_blocks(true);
    FillAddressMap(pool.allocator(), at, query, course.mutable_map());
  }
  return course;
}

WhatIfCourse AskedCourse(const WhatIfPool& pool, const Scenario& scenario,
                         const Simulation& run, bool with_map) {
  WhatIfCourse course;
  course.set_fits(WhatIfPool::Fits(run));
  const Row refused = std::min(run.refused, run.refused_again);
  if (refused != kNoRow) {
    const uint64_t bytes = ReplayOf(pool).SiteOf(refused).requested_bytes;
    FillRefused(pool, refused,
                scenario.resized ? scenario.resized(refused, bytes) : bytes,
                &course);
  }
  course.set_lasted_ns(LastedNs(pool, refused));
  course.set_peak_in_use_bytes(run.peak_in_use_bytes);
  course.set_peak_reserved_bytes(run.peak_reserved_bytes);
  course.set_in_use_bytes(run.in_use_bytes);
  course.set_free_bytes(run.free_bytes);
  course.set_largest_free_bytes(run.largest_free_bytes);
  course.set_limit_bytes(
      scenario.limit_bytes.value_or(pool.settings().limit_bytes));
  FillSettings(pool, scenario, &course);
  if (with_map && !pool.sums_only()) {
    FillMap(pool, run, course.mutable_map());
  }
  return course;
}

}  // namespace oom_forensics
