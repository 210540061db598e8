#include "converter/counterfactual/what_if.h"

#include <algorithm>
#include <utility>

#include "converter/counterfactual/pool_settings.h"
#include "converter/counterfactual/step_stream.h"

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
      from_(BeginOfRange(replay, failure)),
      settings_(SettingsOf(replay, failure, limit_bytes)),
      order_(OrderBefore(replay, failure)),
      as_recorded_(Try({})) {}

Outcome WhatIf::Try(const Scenario& scenario) const {
  const bool has_layout = replay_.trace().has_layout;
  const uint64_t limit_bytes =
      scenario.limit_bytes.value_or(settings_.limit_bytes);
  Outcome outcome;
  outcome.placed = !has_layout && limit_bytes == 0;
  if (outcome.placed) return outcome;
  PoolSimulator::Range range;
  range.from = from_;
  range.to = failure_;
  const Simulation run =
      has_layout
          ? PoolSimulator(replay_, *order_, settings_).Run(scenario, range)
          : RunGapless(replay_, scenario, range, limit_bytes);
  outcome.placed = run.reached_end && run.refused == kNoRow;
  outcome.failed_before = !run.reached_end;
  outcome.in_use_bytes = run.in_use_bytes;
  outcome.free_bytes =
      has_layout ? run.free_bytes
                 : limit_bytes - std::min(limit_bytes, run.in_use_bytes);
  outcome.largest_free_bytes =
      has_layout ? run.largest_free_bytes : outcome.free_bytes;
  outcome.requests = run.requests;
  outcome.moved = run.moved;
  return outcome;
}

}  // namespace oom_forensics
