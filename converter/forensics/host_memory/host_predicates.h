// The predicates that host_causes.cc has in its table, and what they share.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_PREDICATES_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_PREDICATES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "converter/forensics/host_memory/host_causes.h"
#include "converter/trace/host_memory_trace.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// Each is nothing where the trace has no evidence for it.
//
// Functions (host_function_causes.cc):
// One is traced again and again, and its graphs are kept.
std::optional<HostCause> FindRetracing(const HostCase& host_case);
// XLA compiles one again and again, and keeps all that it compiled.
std::optional<HostCause> FindCompileCache(const HostCase& host_case);
//
// What comes in (host_pipeline_cause.cc):
// A node of tf.data keeps many elements.
std::optional<HostCause> FindPipelineBuffer(const HostCase& host_case);
//
// What is kept (host_growth_causes.cc):
// One block takes much of the limit.
std::optional<HostCause> FindDataSet(const HostCase& host_case);
// The process grew until memory ran out.
std::optional<HostCause> FindGrowth(const HostCase& host_case);
// What one line makes takes much of the limit. For where nothing else is known.
std::optional<HostCause> FindMuchLive(const HostCase& host_case);

// A function that was traced less often is not traced without bound; as of an
// out-of-memory of a pool (forensics/causes).
inline constexpr uint64_t kManyTraces = 6;

double ShareOf(uint64_t bytes, const HostCase& host_case);

// A cause, and the bytes that it took.
HostCause MakeHostCause(const HostCase& host_case, const char* kind,
                        uint64_t bytes);
Evidence MakeEvidence(const std::string& name, double value,
                      const std::string& unit);
Remedy MakeRemedy(const std::string& kind, const std::string& title,
                  const std::string& detail, uint64_t bytes);
// Gives the remedy a line, where one is known.
void PointTo(const std::optional<SourceFrame>& line, Remedy* remedy);

// "train.py:12"
std::string ShortLine(const SourceFrame& line);
// "line 12 of train.py (`kept.append(batch)`)"
std::string LongLineText(const SourceFrame& line);
// " at line 12 of train.py (`...`)"; empty where it is not known.
std::string AtLine(const std::optional<SourceFrame>& line);

// The user's innermost line of an activity.
std::optional<SourceFrame> LineOf(const HostCase& host_case,
                                  const HostActivity& activity);

// A quantity at a moment; 0 before its first sample.
uint64_t QuantityAt(const HostMemoryTrace& memory, std::string_view name,
                    int64_t time_ns);

// The activity of a kind for which most(activity) is largest.
template <typename Most>
const HostActivity* LargestActivity(const HostCase& host_case,
                                    std::string_view kind, Most most) {
  const HostActivity* largest = nullptr;
  for (const HostActivity& activity : host_case.host.host_memory.activities) {
    if (activity.kind == kind && most(activity) > 0 &&
        (largest == nullptr || most(activity) > most(*largest))) {
      largest = &activity;
    }
  }
  return largest;
}

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_PREDICATES_H_
