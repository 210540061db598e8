#include "converter/datasets/info.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "converter/datasets/messages.h"

namespace oom_forensics {
namespace {

AllocatorInfo MakeAllocatorInfo(const SelectedAllocator& allocator) {
  const AllocatorReplay& replay = *allocator.replay;
  const AllocatorTrace& trace = replay.trace();
  const HostTrace& host = allocator.host->trace();
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
  if (trace.limit_bytes > 0) {
    info.set_closeness(static_cast<double>(extremes.in_use_max_bytes) /
                       static_cast<double>(trace.limit_bytes));
  }
  return info;
}

// An allocator that ran out of memory is the closest there is.
std::pair<bool, double> Rank(const AllocatorInfo& info) {
  return {info.oom_count() > 0, info.closeness()};
}

std::pair<bool, double> Rank(const HostInfo& info) {
  return info.allocators().empty() ? std::pair(false, 0.0)
                                   : Rank(info.allocators(0));
}

HostInfo MakeHostInfo(const HostAnalysis& host,
                      const std::vector<SelectedAllocator>& allocators) {
  const HostTrace& trace = host.trace();
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
  std::vector<AllocatorInfo> infos;
  for (const SelectedAllocator& allocator : allocators) {
    if (allocator.host == &host) infos.push_back(MakeAllocatorInfo(allocator));
  }
  std::stable_sort(infos.begin(), infos.end(),
                   [](const AllocatorInfo& a, const AllocatorInfo& b) {
                     return Rank(a) > Rank(b);
                   });
  info.mutable_allocators()->Assign(infos.begin(), infos.end());
  return info;
}

}  // namespace

absl::StatusOr<DatasetMessage> AnswerInfo(const DatasetInput& input) {
  const auto selected = SelectAllocators(input.run, input.query.filter());
  if (!selected.ok()) return selected.status();
  auto info = std::make_unique<Info>();
  info->set_converter_version(kConverterVersion);
  std::vector<HostInfo> hosts;
  for (const auto& host : input.run.hosts()) {
    const std::string& asked = input.query.filter().host();
    if (!asked.empty() && host->trace().host != asked) continue;
    hosts.push_back(MakeHostInfo(*host, *selected));
  }
  std::stable_sort(
      hosts.begin(), hosts.end(),
      [](const HostInfo& a, const HostInfo& b) { return Rank(a) > Rank(b); });
  info->mutable_hosts()->Assign(hosts.begin(), hosts.end());
  AddQuality(input, *selected, info->mutable_quality());
  return DatasetMessage(std::move(info));
}

}  // namespace oom_forensics
