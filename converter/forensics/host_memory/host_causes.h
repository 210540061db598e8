// Why the memory of a host was used up: each cause is a predicate over what was
// recorded before the process died.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_CAUSES_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_CAUSES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/forensics/host_memory/host_growth.h"
#include "converter/trace/host_trace.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

// What is known of a process that died while memory was short.
struct HostCase {
  const HostTrace& host;
  // Null: no blocks are known.
  const AllocatorReplay* blocks;
  // The largest first.
  const std::vector<HeldByLine>& held;
  const HostGrowth& growth;
  // What the process may have.
  uint64_t whole = 0;
  // That is a limit of the process alone.
  bool is_own = false;
};

struct HostCause {
  // As HostMemorySeries.verdict has them: "RETRACING".
  std::string kind;
  // The share of what the process may have.
  double share = 0;
  std::string sentence;
  // Its sentence is that of the cause.
  std::optional<Evidence> evidence;
  std::optional<Remedy> remedy;
};

// All that hold; what explains others comes before them.
std::vector<HostCause> FindHostCauses(const HostCase& host_case);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_HOST_MEMORY_HOST_CAUSES_H_
