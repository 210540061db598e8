// Traces of any size, as the collector writes them.
#ifndef OOM_FORENSICS_CONVERTER_BENCHMARKS_SYNTHETIC_TRACE_H_
#define OOM_FORENSICS_CONVERTER_BENCHMARKS_SYNTHETIC_TRACE_H_

#include <cstdint>
#include <string>

namespace oom_forensics::benchmarks {

struct SyntheticTraceOptions {
  // Allocations and frees together.
  uint64_t events = 1'000'000;
  // Allocations live at a time, on average.
  uint64_t live = 10'000;
  // Distinct ops, each with its own shape and size.
  uint32_t sites = 500;
  // Events of a training step.
  uint64_t events_per_step = 10'000;
  uint32_t seed = 1;
};

// A serialized XSpace: one allocator that serves the requests as
// TensorFlow's does (converter/bfc/bfc_model.h), training steps, and an OOM at
// the end. The same options give the same bytes.
std::string MakeSyntheticTrace(const SyntheticTraceOptions& options);

}  // namespace oom_forensics::benchmarks

#endif  // OOM_FORENSICS_CONVERTER_BENCHMARKS_SYNTHETIC_TRACE_H_
