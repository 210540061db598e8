// The steps of a training job as ranges of an allocator's rows.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_STEP_INDEX_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_STEP_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

struct StepSpan {
  // The training step's number; where the trace has no training steps, the
  // number of the call of a graph function, from 0.
  int64_t number = 0;
  // Positions; `end` is the state after its last row.
  Position begin = 0;
  Position end = 0;
};

class StepIndex {
 public:
  // Steps that have ended at `until` or before. Where the trace has no training
  // steps, each new executor step (a call of a graph function) is one.
  StepIndex(const AllocatorReplay& replay, Position until);

  // In order, without overlap; there may be rows between them.
  const std::vector<StepSpan>& spans() const { return spans_; }
  // The steps are calls of graph functions, not training steps.
  bool from_calls() const { return from_calls_; }
  // Index of the last span that begins at or before the row; -1: none.
  int64_t IndexOf(Row row) const;

 private:
  void FromTrainingSteps(const AllocatorReplay& replay, Position until);
  void FromCalls(const AllocatorReplay& replay, Position until);

  std::vector<StepSpan> spans_;
  bool from_calls_ = false;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_STEP_INDEX_H_
