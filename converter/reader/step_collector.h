// Gathers the training steps of a trace from whatever states them.
#ifndef OOM_FORENSICS_CONVERTER_READER_STEP_COLLECTOR_H_
#define OOM_FORENSICS_CONVERTER_READER_STEP_COLLECTOR_H_

#include <cstdint>
#include <vector>

#include "converter/trace/host_trace.h"

namespace oom_forensics {

class StepCollector {
 public:
  // A step with both ends (a TraceMe with a step_num).
  void Add(int64_t number, int64_t begin_ps, int64_t end_ps);
  // A step whose end nobody stated: it lasts until the next one begins. A
  // negative number begins no step.
  void AddBegin(int64_t number, int64_t begin_ps);

  // Sorted by begin. Where steps with both ends were stated, only those count:
  // the same steps may be numbered otherwise by who saw their begins.
  // Statements of one step that overlap are one; a step that begins inside
  // another ends that one. A step without an end lasts until `trace_end_ps` at
  // most.
  std::vector<TrainingStep> Finish(int64_t trace_end_ps);

 private:
  std::vector<TrainingStep> steps_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_STEP_COLLECTOR_H_
