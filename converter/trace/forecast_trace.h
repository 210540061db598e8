// What a step of a graph would have asked for, as the forecast's plane has it
// (event_schema.h, kForecastPlane).
#ifndef OOM_FORENSICS_CONVERTER_TRACE_FORECAST_TRACE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_FORECAST_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/trace/string_table.h"

namespace oom_forensics {

// Who asks in a forecast. Texts are of the host's StringTable.
struct ForecastSite {
  StringId op = kEmptyString;
  StringId shape = kEmptyString;
  int32_t dtype = 0;
  uint64_t requested_bytes = 0;
  // The part of them that each example of the batch takes.
  uint64_t per_example_bytes = 0;
  // What it takes however small the batch is.
  uint64_t least_bytes = 0;
  // A block that XLA lays out again for another batch: by how much that misses
  // what scaling gives is not known.
  bool is_laid_out_anew = false;
  // A recorded request of this site; kNoRow: it is forecast.
  uint32_t like = UINT32_MAX;
  // The op waits for it while other ops run.
  bool is_scratch = false;
};

// A request, or the free of what an earlier one got.
struct ForecastEvent {
  bool is_free = false;
  // A request: index into ForecastTrace::sites. A free: number of the request
  // of its order, always an earlier one that is still held.
  uint32_t index = 0;
};

// The requests in one order of the step's ops.
struct ForecastOrderTrace {
  std::string name;
  std::vector<ForecastEvent> events;
};

struct ForecastTrace {
  // "oom" or "ahead".
  std::string origin;
  std::string function;
  // The pool's name; empty: not stated.
  std::string allocator;
  // TensorFlow's id of the run of the function; 0: not known.
  int64_t step_id = 0;
  // What XLA planned for it, not what its graph would ask for op by op.
  bool planned = false;
  int64_t batch = 0;  // 0: not known.
  uint64_t held_bytes = 0;
  uint64_t op_count = 0;
  uint64_t unknown_count = 0;
  std::vector<std::string> unknown_ops;
  std::vector<std::string> assumed;
  // Why there are no orders.
  std::string reason;
  std::vector<ForecastSite> sites;
  std::vector<ForecastOrderTrace> orders;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_FORECAST_TRACE_H_
