// One file of a run: what a host recorded.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_HOST_TRACE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_HOST_TRACE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/hlo/compiled_module.h"
#include "converter/quality/quality_log.h"
#include "converter/trace/allocator_trace.h"
#include "converter/trace/compiled_request.h"
#include "converter/trace/device_trace.h"
#include "converter/trace/forecast_trace.h"
#include "converter/trace/host_memory_trace.h"
#include "converter/trace/site_table.h"
#include "converter/trace/source_table.h"
#include "converter/trace/string_table.h"
#include "core/outside_pool.h"

namespace oom_forensics {

// A training step: [begin, end) in picoseconds since HostTrace::origin_ns.
struct TrainingStep {
  int64_t number = 0;
  int64_t begin_ps = 0;
  int64_t end_ps = 0;
};

inline constexpr int64_t kUnknownStep = -1;

// What the session plane says about the recording.
struct RecordingFacts {
  uint64_t schema_version = 0;  // 0: a stock trace.
  std::string collector_version;
  std::string tensorflow_version;
  std::string origin;
  std::string hooks;
  std::string attribution;
  // How device memory was watched, and why so; empty: not recorded.
  std::string cupti_mode;
  std::string cupti_reason;
  std::vector<std::string> environment;
  uint64_t process_id = 0;
  int64_t start_ns = 0;
  int64_t stop_ns = 0;
  double sampling_rate = 1.0;
  uint64_t min_bytes = 0;
  bool anonymized = false;
  // Why this was written, where a library of NVIDIA's had failed.
  std::optional<FailedLibrary> failed_library;
};

struct HostTrace {
  std::string host;
  std::string file_name;
  uint64_t file_bytes = 0;
  // Nanoseconds since the epoch of time 0 of all rows; 0: not recorded.
  int64_t origin_ns = 0;
  RecordingFacts facts;
  StringTable strings;
  SiteTable sites;
  SourceTable source;
  std::vector<AllocatorTrace> allocators;
  std::vector<DeviceTrace> devices;
  std::vector<ForecastTrace> forecasts;
  HostMemoryTrace host_memory;
  // What XLA compiled, as far as the trace has it.
  std::vector<CompiledModule> modules;
  // What XLA asked for.
  CompiledRequestTable compiled_requests;
  // By the site of a block of XLA's whose inside is known: what lies in it at
  // its own peak, in the order of offsets, up to its last byte.
  absl::flat_hash_map<SiteId, std::vector<SitePart>> block_parts;
  // Sorted by begin.
  std::vector<TrainingStep> steps;
  // What touches all allocators of the host.
  QualityLog quality;

  // A row's time in nanoseconds since the epoch.
  int64_t ToNs(int64_t time_ps) const {
    const int64_t floor =
        time_ps >= 0 ? time_ps / 1000 : (time_ps - 999) / 1000;
    return origin_ns + floor;
  }
  // The first picosecond of a nanosecond since the epoch, saturated.
  int64_t ToPs(int64_t time_ns) const;
  // The training step at that time; kUnknownStep between steps.
  int64_t StepAt(int64_t time_ps) const;

  const std::string& OpOf(const AllocationSite& site) const {
    return strings.Get(site.op);
  }
  const std::string& ShapeOf(const AllocationSite& site) const {
    return strings.Get(site.shape);
  }
  // Null where XLA did not ask.
  const CompiledRequest* CompiledOf(const AllocationSite& site) const {
    return site.compiled == 0 ? nullptr : &compiled_requests.Get(site.compiled);
  }
  // Null where the trace does not have the module.
  const CompiledModule* ModuleOf(const CompiledRequest& request) const {
    return request.module < 0 ? nullptr
                              : &modules[static_cast<size_t>(request.module)];
  }
  // Null where it is not known which one it is.
  const CompiledAllocation* AllocationOf(const CompiledRequest& request) const {
    const CompiledModule* module = ModuleOf(request);
    if (module == nullptr) return nullptr;
    return request.fresh_result < 0
               ? module->AllocationOf(request.allocation)
               : &module->fresh_results[static_cast<size_t>(
                     request.fresh_result)];
  }
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_HOST_TRACE_H_
