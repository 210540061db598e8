#include "converter/datasets/driver_memory.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/datasets/answer_parts.h"
#include "converter/datasets/driver_columns.h"
#include "converter/datasets/time_columns.h"
#include "converter/forensics/oom_case/device_pressure.h"

namespace oom_forensics {
namespace {

std::vector<SelectedDevice> SelectDevices(const Run& run,
                                          const Filter& filter) {
  std::vector<SelectedDevice> devices;
  for (size_t i = 0; i < run.hosts().size(); ++i) {
    const HostSummary& summary = run.hosts()[i];
    if (!filter.host().empty() && summary.host != filter.host()) continue;
    if (summary.device_count == 0) continue;
    const SharedHost host = run.Load(i);
    for (const DeviceTrace& trace : host->trace().devices) {
      SelectedDevice device;
      device.host = host;
      device.trace = &trace;
      device.replay = ReplayDevice(host->trace(), trace, host->allocators());
      devices.push_back(std::move(device));
    }
  }
  return devices;
}

// The time of the devices' events and of the allocators', cut by the filter.
NsRange DriverRange(const std::vector<SelectedDevice>& devices,
                    const Selection& allocators, const Filter& filter) {
  if (filter.has_from_step() || filter.has_to_step()) {
    return SelectedRange(allocators, filter);
  }
  NsRange whole = SelectedRange(allocators, {});
  bool any = whole.to_ns > whole.from_ns;
  for (const SelectedDevice& device : devices) {
    if (device.trace->events.empty()) continue;
    const HostTrace& host = device.host->trace();
    const int64_t first = host.ToNs(device.trace->events.front().time_ps);
    const int64_t last = host.ToNs(device.trace->events.back().time_ps);
    whole.from_ns = any ? std::min(whole.from_ns, first) : first;
    whole.to_ns = any ? std::max(whole.to_ns, last + 1) : last + 1;
    any = true;
  }
  if (filter.has_from_ns()) {
    whole.from_ns = std::max(whole.from_ns, filter.from_ns());
  }
  if (filter.has_to_ns()) whole.to_ns = std::min(whole.to_ns, filter.to_ns());
  return whole;
}

void AddOoms(const Run& run, const std::vector<SelectedDevice>& devices,
             DriverMemory* answer) {
  const std::vector<OomRef> ooms = ListOoms(run);
  for (size_t i = 0; i < ooms.size(); ++i) {
    const OomRef& oom = ooms[i];
    if (run.hosts()[oom.allocator.host].device_count == 0) continue;
    const SelectedAllocator allocator = LoadAllocator(run, oom.allocator);
    const auto pressure =
        PressureAt(allocator.host->trace(), allocator.host->allocators(),
                   *allocator.replay, oom.row);
    if (!pressure.has_value()) continue;
    const HostTrace& host = allocator.host->trace();
    for (size_t d = 0; d < devices.size(); ++d) {
      if (devices[d].host != allocator.host ||
          devices[d].trace != &host.devices[pressure->device]) {
        continue;
      }
      DriverOom* message =
          answer->mutable_series(static_cast<int>(d))->add_ooms();
      message->set_oom(static_cast<int32_t>(i));
      message->set_time_ns(oom.time_ns);
      message->set_allocator(allocator.replay->trace().name);
      message->set_request_bytes(pressure->request_bytes);
      message->set_pool_bytes(pressure->pool_bytes);
      message->set_pool_limit_bytes(pressure->pool_limit_bytes);
      message->set_external(pressure->external());
      message->set_sentence(pressure->Sentence());
      DriverSample* sample = message->mutable_sample();
      sample->set_time_ns(host.ToNs(pressure->sample_ps));
      sample->set_device_total_bytes(pressure->total_bytes);
      sample->set_device_free_bytes(pressure->free_bytes);
      sample->set_process_bytes(pressure->process_bytes);
      sample->set_pool_bytes(pressure->pools_bytes);
      sample->set_gap_bytes(pressure->gap_bytes());
      sample->set_others_bytes(pressure->others_bytes());
    }
  }
}

class DriverQuality {
 public:
  explicit DriverQuality(DriverMemory* answer) : answer_(answer) {}

  void Add(const SelectedDevice& device) {
    const std::string& host = device.host->trace().host;
    const DeviceTrace& trace = *device.trace;
    Add(host, "driver_events_dropped", Severity::ERROR, trace.dropped_events,
        " driver events happened but are not in the trace, because the "
        "collector's log was full.");
    Add(host, "cupti_records_dropped", Severity::WARNING,
        trace.dropped_by_cupti,
        " records were dropped by CUPTI; driver allocations may be among "
        "them.");
    Add(host, "cupti_records_unreadable", Severity::WARNING,
        trace.unreadable_records,
        " records of CUPTI were not understood and were left out.");
    Add(host, "driver_unmatched_free", Severity::WARNING,
        device.replay.unmatched_frees,
        " driver frees were of blocks from before the recording; they were "
        "ignored.");
    Add(host, "driver_no_addresses", Severity::WARNING,
        device.replay.anonymous_blocks,
        " driver allocations come from TensorFlow's own trace, which has no "
        "address of them: they are counted, but what of them was freed is not "
        "known, so they are in no sum of live bytes.");
  }

  void AddAbsence(const HostSummary& host) {
    if (host.device_count > 0) return;
    const bool is_known = !host.info.cupti_mode().empty();
    Add(host.host, "no_device_memory", Severity::INFO_ONLY, 1,
        is_known ? absl::StrCat("Device memory was not watched (",
                                host.info.cupti_mode(),
                                "): ", host.info.cupti_reason(), ".")
                 : std::string("The trace says nothing about device memory."),
        /*with_count=*/false);
  }

 private:
  void Add(const std::string& host, const char* name, Severity severity,
           uint64_t count, const std::string& sentence,
           bool with_count = true) {
    if (count == 0) return;
    Quality* quality = answer_->add_quality();
    quality->set_name(name);
    quality->set_severity(severity);
    quality->set_count(count);
    quality->set_host(host);
    quality->set_sentence(with_count ? absl::StrCat(count, sentence)
                                     : sentence);
  }

  DriverMemory* const answer_;
};

}  // namespace

absl::StatusOr<DatasetMessage> AnswerDriverMemory(const DatasetInput& input) {
  const Filter& filter = input.query.filter();
  const auto allocators = SelectAllocators(input.run, filter);
  if (!allocators.ok()) return allocators.status();
  const std::vector<SelectedDevice> devices = SelectDevices(input.run, filter);
  const NsRange range = DriverRange(devices, *allocators, filter);
  auto answer = std::make_unique<DriverMemory>();
  answer->set_from_ns(range.from_ns);
  answer->set_to_ns(range.to_ns);
  DriverQuality quality(answer.get());
  for (const SelectedDevice& device : devices) {
    DriverSeries* series = answer->add_series();
    series->set_host(device.host->trace().host);
    series->set_device(device.trace->name);
    series->set_device_name(device.trace->device_name);
    series->set_mode(device.trace->mode);
    series->set_reason(device.trace->reason);
    series->set_clock_error_ns(device.trace->clock_error_ns);
    series->set_source(device.trace->source);
    for (const size_t pool : device.replay.pools) {
      series->add_allocators(device.host->allocators()[pool]->trace().name);
    }
    FillDriverSeries(device, range, ColumnCount(input.query), series);
    quality.Add(device);
  }
  AddOoms(input.run, devices, answer.get());
  for (const HostSummary& host : input.run.hosts()) {
    if (!filter.host().empty() && host.host != filter.host()) continue;
    quality.AddAbsence(host);
  }
  AddQuality(input, *allocators, answer->mutable_quality());
  return DatasetMessage(std::move(answer));
}

}  // namespace oom_forensics
