#include "converter/forensics/step_index.h"

#include <algorithm>

#include "converter/cancellation/cancellation.h"
#include "converter/forensics/op_period.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// Fewer calls say nothing about what grows; rounds may.
constexpr size_t kMinCalls = 4;

// For each site, whether its op has a scope. Eager ops and those of input
// pipelines, which have executor steps of their own, have none.
std::vector<bool> SitesInLayers(const HostTrace& host) {
  std::vector<bool> in_layer(host.sites.size());
  for (SiteId id = 0; id < host.sites.size(); ++id) {
    in_layer[id] = !ScopeOf(host.OpOf(host.sites.Get(id))).empty();
  }
  return in_layer;
}

}  // namespace

StepIndex::StepIndex(const AllocatorReplay& replay, Position until,
                     const std::vector<Row>& items,
                     const std::vector<Row>& on_tape) {
  if (!replay.host().steps.empty()) {
    FromTrainingSteps(replay, until);
    return;
  }
  FromCalls(replay, until);
  if (spans_.size() < kMinCalls) FromRounds(replay, until, items, on_tape);
}

const char* StepIndex::unit() const {
  switch (source_) {
    case Source::kTrainingSteps:
      return "step";
    case Source::kCalls:
      return "call";
    case Source::kRounds:
      return "round";
  }
  return "step";
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
  source_ = Source::kCalls;
  const AllocatorTrace& trace = replay.trace();
  const std::vector<bool> in_layer = SitesInLayers(replay.host());
  int64_t current = 0;
  for (Row row = trace.baseline_rows; row < until; ++row) {
    StopIfCancelled(row);
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    const int64_t step_id = trace.ContextOf(row).step_id;
    if (step_id == 0 || !in_layer[trace.site[row]]) continue;
    if (step_id != current) {
      current = step_id;
      spans_.push_back({static_cast<int64_t>(spans_.size()), row, row + 1});
    }
    spans_.back().end = row + 1;
  }
  // The last one may not have ended.
  if (!spans_.empty()) spans_.pop_back();
}

void StepIndex::FromRounds(const AllocatorReplay& replay, Position until,
                           const std::vector<Row>& items,
                           const std::vector<Row>& on_tape) {
  std::vector<Position> begins = FindPeriods(replay, until);
  if (begins.empty()) begins.assign(items.begin(), items.end());
  if (begins.empty()) return;
  source_ = Source::kRounds;
  spans_.clear();
  for (size_t i = 0; i + 1 < begins.size(); ++i) {
    spans_.push_back({static_cast<int64_t>(i), begins[i], begins[i + 1]});
  }
  // What a round computed is off the tape once the round's step is over.
  if (!spans_.empty() && !on_tape.empty() &&
      on_tape[on_tape.size() / 2] < spans_.back().end) {
    spans_.clear();
  }
}

int64_t StepIndex::IndexOf(Row row) const {
  const auto after =
      std::upper_bound(spans_.begin(), spans_.end(), row,
                       [](Row r, const StepSpan& s) { return r < s.begin; });
  return after - spans_.begin() - 1;
}

}  // namespace oom_forensics
