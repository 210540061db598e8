#include "converter/forensics/step_index.h"

#include <algorithm>

#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// Whether the op has a scope: eager ops and those of input pipelines, which
// have executor steps of their own, have none.
bool IsInLayer(const AllocatorReplay& replay, Row alloc) {
  return !ScopeOf(replay.host().OpOf(replay.SiteOf(alloc))).empty();
}

}  // namespace

StepIndex::StepIndex(const AllocatorReplay& replay, Position until) {
  if (replay.host().steps.empty()) {
    FromCalls(replay, until);
  } else {
    FromTrainingSteps(replay, until);
  }
}

void StepIndex::FromTrainingSteps(const AllocatorReplay& replay,
                                  Position until) {
  for (const TrainingStep& step : replay.host().steps) {
    const StepSpan span{step.number,
                        std::max(replay.trace().baseline_rows,
                                 replay.trace().PositionAt(step.begin_ps)),
                        replay.trace().PositionAt(step.end_ps)};
    if (span.end > until || span.end <= span.begin) continue;
    if (!spans_.empty() && span.begin < spans_.back().end) continue;
    spans_.push_back(span);
  }
}

void StepIndex::FromCalls(const AllocatorReplay& replay, Position until) {
  from_calls_ = true;
  const AllocatorTrace& trace = replay.trace();
  int64_t current = 0;
  for (Row row = trace.baseline_rows; row < until; ++row) {
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    const int64_t step_id = trace.ContextOf(row).step_id;
    if (step_id == 0 || !IsInLayer(replay, row)) continue;
    if (step_id != current) {
      current = step_id;
      spans_.push_back({static_cast<int64_t>(spans_.size()), row, row + 1});
    }
    spans_.back().end = row + 1;
  }
  // The last one may not have ended.
  if (!spans_.empty()) spans_.pop_back();
}

int64_t StepIndex::IndexOf(Row row) const {
  const auto after =
      std::upper_bound(spans_.begin(), spans_.end(), row,
                       [](Row r, const StepSpan& s) { return r < s.begin; });
  return after - spans_.begin() - 1;
}

}  // namespace oom_forensics
