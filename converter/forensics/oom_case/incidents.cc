#include "converter/forensics/oom_case/incidents.h"

#include <algorithm>
#include <cstdint>

#include "converter/forensics/roles.h"

namespace oom_forensics {
namespace {

// What began to wait so soon after a refusal is in its wake, where the step is
// not known: ops that other threads still run.
constexpr int64_t kWakePs = 1'000'000'000'000;
// No request waits longer; a damaged trace may say so.
constexpr uint64_t kMaxWaitNs = 3'600'000'000'000;

int64_t BeganPs(const AllocatorReplay& replay, const FailedRequest& failed) {
  return replay.trace().time_ps[failed.row] -
         static_cast<int64_t>(std::min(failed.waited_ns, kMaxWaitNs) * 1000);
}

bool IsOfSameRun(const AllocatorTrace& trace, const FailedRequest& earlier,
                 const FailedRequest& later) {
  const int64_t step_id = trace.ContextOf(later.row).step_id;
  return step_id != 0 && step_id == trace.ContextOf(earlier.row).step_id;
}

// Whether the later refusal belongs to the earlier one.
bool IsSameIncident(const AllocatorReplay& replay, const FailedRequest& earlier,
                    const FailedRequest& later) {
  const AllocatorTrace& trace = replay.trace();
  // Once refused memory, the step fails, however often it is refused again.
  if (IsOfSameRun(trace, earlier, later)) return true;
  const int64_t refused_ps = trace.time_ps[earlier.row];
  const int64_t began_ps = BeganPs(replay, later);
  if (began_ps > refused_ps + kWakePs) return false;
  if (began_ps <= refused_ps) return true;
  // An eager op on the same thread was called after the error came back.
  return ModeOf(replay.host(), replay.SiteOf(later.row)) == GRAPH ||
         trace.ContextOf(later.row).thread !=
             trace.ContextOf(earlier.row).thread;
}

// Whether both requests needed a place at once.
bool IsRefusedTogether(const AllocatorReplay& replay,
                       const FailedRequest& earlier,
                       const FailedRequest& later) {
  const AllocatorTrace& trace = replay.trace();
  if (IsOfSameRun(trace, earlier, later)) return true;
  const int64_t refused_ps = trace.time_ps[earlier.row];
  const int64_t began_ps = BeganPs(replay, later);
  if (began_ps <= refused_ps) return true;
  // Another run; where runs have no ids, another training step.
  return trace.ContextOf(later.row).step_id == 0 &&
         ModeOf(replay.host(), replay.SiteOf(later.row)) == GRAPH &&
         began_ps <= refused_ps + kWakePs &&
         replay.host().StepAt(began_ps) == replay.host().StepAt(refused_ps);
}

}  // namespace

std::vector<std::vector<Row>> FindIncidents(const AllocatorReplay& replay) {
  std::vector<std::vector<Row>> incidents;
  const FailedRequest* last = nullptr;
  for (const FailedRequest& failed : replay.trace().failures) {
    if (!failed.is_oom) continue;
    if (last == nullptr || !IsSameIncident(replay, *last, failed)) {
      incidents.emplace_back();
    }
    incidents.back().push_back(failed.row);
    last = &failed;
  }
  return incidents;
}

Row EndOfEarlierIncident(const AllocatorReplay& replay, Row failure) {
  Row earlier = kNoRow;
  for (const std::vector<Row>& incident : FindIncidents(replay)) {
    if (incident.back() >= failure) break;
    earlier = incident.back();
  }
  return earlier;
}

std::vector<Row> RefusedTogether(const AllocatorReplay& replay, Row failure) {
  std::vector<Row> together;
  const FailedRequest* const failed = replay.trace().FailureOf(failure);
  if (failed == nullptr) return together;
  for (const FailedRequest& later : replay.trace().failures) {
    if (later.row > failure && later.is_oom &&
        IsRefusedTogether(replay, *failed, later)) {
      together.push_back(later.row);
    }
  }
  return together;
}

}  // namespace oom_forensics
