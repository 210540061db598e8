// What is kept of a host while its events are not in memory: enough to say
// what the run has, to rank it, and to find its OOMs.
#ifndef OOM_FORENSICS_CONVERTER_RUN_HOST_SUMMARY_H_
#define OOM_FORENSICS_CONVERTER_RUN_HOST_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/run/host_analysis.h"
#include "proto/datasets.pb.h"

namespace oom_forensics {

struct OomSummary {
  // Index into HostAnalysis::allocators().
  size_t allocator = 0;
  Row row = kNoRow;
  int64_t time_ns = 0;
  // Training step; kUnknownStep between steps.
  int64_t step = kUnknownStep;
};

struct AllocatorSummary {
  std::string name;
  AllocatorInfo info;
  // The times of its first event after the baseline and of its last one; none
  // without rows.
  struct Events {
    int64_t first_ns = 0;
    int64_t last_ns = 0;
  };
  std::optional<Events> events;
  // What was lost, in the trace and as the replay found.
  std::vector<Quality> quality;
};

struct HostSummary {
  std::string host;
  // Without its allocators.
  HostInfo info;
  // In the order of HostAnalysis::allocators().
  std::vector<AllocatorSummary> allocators;
  std::vector<OomSummary> ooms;
  // What touches all allocators of the host.
  std::vector<Quality> quality;
  size_t device_count = 0;
  // The memory of the host itself was watched.
  bool has_host_memory = false;
};

HostSummary Summarize(const HostAnalysis& host);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_RUN_HOST_SUMMARY_H_
