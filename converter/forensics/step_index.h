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
  // number of the call of a graph function or of the round, from 0.
  int64_t number = 0;
  // Positions; `end` is the state after its last row.
  Position begin = 0;
  Position end = 0;
};

class StepIndex {
 public:
  // What the spans were found by.
  enum class Source {
    // Training steps that the program or Keras marked.
    kTrainingSteps,
    // Each new executor step, a call of a graph function, is one.
    kCalls,
    // The sequence of ops repeats itself (op_period.h), or the program adds an
    // item to what it collects.
    kRounds,
  };

  // Steps that have ended at `until` or before. Where the trace has no training
  // steps, calls of graph functions; where it has no calls either, rounds.
  // `items`: what the program collected one by one, oldest first: each ends a
  // round where no sequence of ops repeats itself. `on_tape`: what a gradient
  // tape keeps, oldest first: rounds of a loop that runs under one tape are
  // parts of a step, and none are told.
  StepIndex(const AllocatorReplay& replay, Position until,
            const std::vector<Row>& items = {},
            const std::vector<Row>& on_tape = {});

  // In order, without overlap; there may be rows between them.
  const std::vector<StepSpan>& spans() const { return spans_; }
  Source source() const { return source_; }
  // "step", "call", "round": what a span is to be called.
  const char* unit() const;
  // Index of the last span that begins at or before the row; -1: none.
  int64_t IndexOf(Row row) const;

 private:
  void FromTrainingSteps(const AllocatorReplay& replay, Position until);
  void FromCalls(const AllocatorReplay& replay, Position until);
  void FromRounds(const AllocatorReplay& replay, Position until,
                  const std::vector<Row>& items,
                  const std::vector<Row>& on_tape);

  std::vector<StepSpan> spans_;
  Source source_ = Source::kTrainingSteps;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_STEP_INDEX_H_
