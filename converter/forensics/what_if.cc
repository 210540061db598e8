#include "converter/forensics/what_if.h"

#include <algorithm>
#include <utility>

#include "converter/simulation/gapless_pool.h"
#include "converter/simulation/pool_settings.h"

namespace oom_forensics {

Layout LayoutAt(const AllocatorReplay& replay, Position position) {
  const ChunkMap map = replay.MapAt(position);
  const int64_t now_ps = replay.TimePsOf(position);
  Layout layout;
  for (const MappedRegion& region : map.regions) {
    layout.push_back({region.address, region.size_bytes, {}});
  }
  for (const MappedChunk& chunk : map.chunks) {
    Block block{chunk.address, chunk.size_bytes, Block::kFree, 0};
    if (!chunk.is_free()) {
      block.holder = chunk.row;
      block.age_ns = static_cast<uint64_t>(std::max<int64_t>(
                         0, now_ps - replay.BornPs(chunk.row))) /
                     1000;
    }
    layout[chunk.region].blocks.push_back(block);
  }
  return layout;
}

namespace {

// Without a layout there are no regions that a limit could be derived from: one
// that is not known stays so.
BfcSettings SettingsOf(const AllocatorReplay& replay, Row failure,
                       uint64_t limit_bytes) {
  BfcSettings settings = RecordedSettings(replay, failure, limit_bytes);
  if (!replay.trace().has_layout) settings.limit_bytes = limit_bytes;
  return settings;
}

}  // namespace

WhatIf::WhatIf(const AllocatorReplay& replay, Row failure, uint64_t limit_bytes)
    : replay_(replay),
      failure_(failure),
      from_(std::max(replay.trace().baseline_rows,
                     failure > kMaxWhatIfRows ? failure - kMaxWhatIfRows : 0)),
      settings_(SettingsOf(replay, failure, limit_bytes)),
      order_(replay.trace().has_layout
                 ? FindServingOrder(replay, from_, failure)
                 : ServingOrder()),
      as_recorded_(Try({})) {}

Outcome WhatIf::Try(const Scenario& scenario) const {
  if (!replay_.trace().has_layout) return TryGapless(scenario);
  Outcome outcome;
  PoolSimulator::Range range;
  range.from = from_;
  range.to = failure_;
  const Simulation run =
      PoolSimulator(replay_, order_, settings_).Run(scenario, range);
  outcome.placed = run.reached_end && run.refused == kNoRow;
  outcome.failed_before = !run.reached_end;
  outcome.in_use_bytes = run.in_use_bytes;
  outcome.step_peak_bytes = run.step_peak_bytes;
  outcome.free_bytes = run.free_bytes;
  outcome.largest_free_bytes = run.largest_free_bytes;
  outcome.requests = run.requests;
  outcome.moved = run.moved;
  return outcome;
}

Outcome WhatIf::TryGapless(const Scenario& scenario) const {
  Outcome outcome;
  const uint64_t limit_bytes =
      scenario.limit_bytes.value_or(settings_.limit_bytes);
  if (limit_bytes == 0) {
    outcome.placed = true;
    return outcome;
  }
  PoolSimulator::Range range;
  range.from = from_;
  range.to = failure_;
  const Simulation run = RunGapless(replay_, scenario, range, limit_bytes);
  uint64_t request_bytes = replay_.SiteOf(failure_).requested_bytes;
  if (scenario.resized)
    request_bytes = scenario.resized(failure_, request_bytes);
  outcome.failed_before = run.refused != kNoRow;
  outcome.in_use_bytes = run.in_use_bytes;
  outcome.free_bytes = limit_bytes - std::min(limit_bytes, run.in_use_bytes);
  outcome.placed =
      !outcome.failed_before && request_bytes <= outcome.free_bytes;
  if (outcome.placed) outcome.free_bytes -= request_bytes;
  outcome.largest_free_bytes = outcome.free_bytes;
  outcome.requests = run.requests;
  return outcome;
}

}  // namespace oom_forensics
