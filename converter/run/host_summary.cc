#include "converter/run/host_summary.h"

namespace oom_forensics {
namespace {

AllocatorInfo MakeAllocatorInfo(const HostTrace& host,
                                const AllocatorReplay& replay) {
  const AllocatorTrace& trace = replay.trace();
  const Usage baseline = replay.usage().At(trace.baseline_rows);
  const Usage end = replay.usage().At(replay.end_position());
  const UsageExtremes extremes = replay.usage().Over(0, replay.end_position());
  AllocatorInfo info;
  info.set_allocator(trace.name);
  info.set_kind(trace.kind);
  info.set_device(trace.device);
  info.set_source(trace.source);
  info.set_limit_bytes(trace.limit_bytes);
  info.set_peak_in_use_bytes(extremes.in_use_max_bytes);
  info.set_peak_reserved_bytes(extremes.reserved_max_bytes);
  info.set_peak_ns(host.ToNs(replay.TimePsOf(replay.peak_position())));
  info.set_alloc_count(trace.total_allocs.value_or(replay.alloc_count()));
  info.set_free_count(trace.total_frees.value_or(replay.free_count()));
  info.set_failed_count(trace.failures.size());
  info.set_oom_count(replay.failure_positions().size());
  info.set_baseline_count(baseline.live_count);
  info.set_baseline_bytes(baseline.in_use_bytes);
  if (trace.row_count() > 0) {
    info.set_first_ns(host.ToNs(trace.time_ps.front()));
    info.set_last_ns(host.ToNs(trace.time_ps.back()));
  }
  info.set_end_in_use_bytes(end.in_use_bytes);
  info.set_end_live_count(end.live_count);
  info.set_event_count(trace.row_count() - trace.baseline_rows);
  info.set_has_addresses(trace.row_count() > 0);
  info.set_has_regions(!trace.regions.empty());
  info.set_has_layout(trace.has_layout);
  if (trace.limit_bytes > 0) {
    info.set_closeness(static_cast<double>(extremes.in_use_max_bytes) /
                       static_cast<double>(trace.limit_bytes));
  }
  return info;
}

HostInfo MakeHostInfo(const HostTrace& trace) {
  const RecordingFacts& facts = trace.facts;
  HostInfo info;
  info.set_host(trace.host);
  info.set_file(trace.file_name);
  info.set_file_bytes(trace.file_bytes);
  info.set_tensorflow_version(facts.tensorflow_version);
  info.set_collector_version(facts.collector_version);
  info.set_origin(facts.origin);
  info.set_start_ns(facts.start_ns);
  info.set_stop_ns(facts.stop_ns);
  info.set_hooks(facts.hooks);
  info.set_attribution(facts.attribution);
  const bool has_device = !trace.devices.empty();
  info.set_cupti_mode(has_device ? trace.devices.front().mode
                                 : facts.cupti_mode);
  info.set_cupti_reason(has_device ? trace.devices.front().reason
                                   : facts.cupti_reason);
  info.set_sampling_rate(facts.sampling_rate);
  info.mutable_environment()->Assign(facts.environment.begin(),
                                     facts.environment.end());
  info.set_has_steps(!trace.steps.empty());
  if (!trace.steps.empty()) {
    info.set_first_step(trace.steps.front().number);
    info.set_last_step(trace.steps.back().number);
  }
  info.set_anonymized(facts.anonymized);
  info.set_process_id(facts.process_id);
  if (facts.failed_library.has_value()) {
    const OutsidePool& device = facts.failed_library->device;
    const std::string_view library =
        LibraryWithoutMemory(facts.failed_library->error);
    const OutsidePoolVerdict verdict = JudgeOutsidePool(*facts.failed_library);
    LibraryFailure* const failure = info.mutable_library_failure();
    failure->set_library(std::string(library));
    failure->set_error(facts.failed_library->error);
    failure->set_kind(verdict.kind);
    failure->set_sentence(verdict.sentence);
    failure->set_remedy(verdict.remedy);
    failure->set_total_bytes(device.device.total_bytes);
    failure->set_free_bytes(device.device.free_bytes);
    failure->set_others_bytes(device.device.others_bytes());
    failure->set_pools_bytes(device.pools_bytes);
    failure->set_pools_in_use_bytes(device.pools_in_use_bytes);
  }
  return info;
}

AllocatorSummary SummarizeAllocator(const HostTrace& host,
                                    const AllocatorReplay& replay) {
  const AllocatorTrace& trace = replay.trace();
  AllocatorSummary summary;
  summary.name = trace.name;
  summary.info = MakeAllocatorInfo(host, replay);
  if (trace.row_count() > 0) {
    const Row first =
        trace.baseline_rows < trace.row_count() ? trace.baseline_rows : 0;
    summary.events = {host.ToNs(trace.time_ps[first]),
                      host.ToNs(trace.time_ps.back())};
  }
  summary.quality = trace.quality.Entries(host.host, trace.name);
  for (Quality& entry : replay.quality().Entries(host.host, trace.name)) {
    summary.quality.push_back(std::move(entry));
  }
  return summary;
}

}  // namespace

HostSummary Summarize(const HostAnalysis& host) {
  const HostTrace& trace = host.trace();
  HostSummary summary;
  summary.host = trace.host;
  summary.info = MakeHostInfo(trace);
  for (const auto& replay : host.allocators()) {
    for (const Position position : replay->failure_positions()) {
      const int64_t time_ps = replay->trace().time_ps[position];
      summary.ooms.push_back({summary.allocators.size(), position,
                              trace.ToNs(time_ps), trace.StepAt(time_ps)});
    }
    summary.allocators.push_back(SummarizeAllocator(trace, *replay));
  }
  summary.quality = trace.quality.Entries(trace.host, "");
  summary.device_count = trace.devices.size();
  summary.has_host_memory = !trace.host_memory.empty();
  return summary;
}

}  // namespace oom_forensics
