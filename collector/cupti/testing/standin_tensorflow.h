// A stand-in for the part of libtensorflow_cc.so.2 that drives CUPTI, for
// machines without a GPU, where TensorFlow's tracer does not start: the same
// classes, under the same exported names, with the same order of calls as
// TensorFlow 2.21's xla::profiler::CuptiTracer.
//
// A test sees only these functions: the classes stay inside the library, as
// they do in TensorFlow.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_TENSORFLOW_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_TENSORFLOW_H_

#include <cstddef>
#include <map>

namespace oom_forensics::cupti::testing {

// What TensorFlow's tracer got.
struct TracerResult {
  // False: it could not subscribe or register, as if CUPTI were taken.
  bool started = false;
  // Records by CUpti_ActivityKind.
  std::map<int, int> records;
  // Records that CUPTI told it were lost.
  size_t dropped_records = 0;
  // Buffers that it was given but had not handed out. In TensorFlow each one
  // is a free() of memory that is not its own.
  int foreign_buffers = 0;
  // Buffers that it handed out and never got back.
  size_t lost_buffers = 0;
};

// Begins a profiler session: subscribe, register callbacks, enable kinds.
bool StartTracer();

// Ends it: unsubscribe, disable kinds, flush, and finalize CUPTI if told so.
TracerResult StopTracer(bool finalize);

}  // namespace oom_forensics::cupti::testing

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_TENSORFLOW_H_
