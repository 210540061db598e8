#include "converter/forensics/oom_case/device_pressure.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "converter/replay/device_replay.h"
#include "core/bfc.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// As the collector calls it (schema::kSampleReason).
constexpr char kOomReason[] = "oom";

// The look at the device that the failure itself caused, a little after it;
// where there is none, the last one before it; else the first of all.
const DeviceEvent* SampleOf(const HostTrace& host, const DeviceTrace& device,
                            int64_t failed_ps) {
  constexpr int64_t kSecondPs = 1'000'000'000'000;
  const DeviceEvent* before = nullptr;
  const DeviceEvent* after = nullptr;
  for (const DeviceEvent& event : device.events) {
    if (event.kind != DeviceEventKind::kSample) continue;
    if (event.time_ps < failed_ps) {
      before = &event;
      continue;
    }
    if (after == nullptr) after = &event;
    if (event.time_ps > failed_ps + kSecondPs) break;
    if (host.strings.Get(event.reason) == kOomReason) return &event;
  }
  return before != nullptr ? before : after;
}

}  // namespace

std::string DevicePressure::Sentence() const {
  std::string sentence = absl::StrCat(
      name, " has ", FormatBytes(total_bytes), ", of which ",
      FormatBytes(free_bytes), " were free; TensorFlow's pools held ",
      FormatBytes(pools_bytes), ", everything else ", FormatBytes(gap_bytes()));
  if (others_bytes() > 0) {
    absl::StrAppend(&sentence, " (other processes: ", OthersText(), ")");
  }
  if (external()) {
    absl::StrAppend(&sentence, ". The pool was allowed to grow by ",
                    FormatBytes(pool_limit_bytes - pool_bytes),
                    ", but the device had no room for ",
                    FormatBytes(request_bytes));
  }
  return sentence + ".";
}

std::optional<DevicePressure> PressureAt(
    const HostTrace& host,
    const std::vector<std::unique_ptr<AllocatorReplay>>& allocators,
    const AllocatorReplay& allocator, Row failed_row) {
  const AllocatorTrace& trace = allocator.trace();
  for (size_t i = 0; i < host.devices.size(); ++i) {
    const DeviceTrace& device = host.devices[i];
    const DeviceReplay replay = ReplayDevice(host, device, allocators);
    const bool holds_pool = std::any_of(
        replay.pools.begin(), replay.pools.end(),
        [&](size_t pool) { return allocators[pool].get() == &allocator; });
    if (!holds_pool) continue;
    const int64_t time_ps = trace.time_ps[failed_row];
    const DeviceEvent* sample = SampleOf(host, device, time_ps);
    if (sample == nullptr || sample->total_bytes == 0) continue;
    DevicePressure pressure;
    pressure.device = i;
    pressure.sample_ps = sample->time_ps;
    pressure.total_bytes = sample->total_bytes;
    pressure.free_bytes = sample->free_bytes;
    pressure.process_bytes = sample->process_bytes;
    pressure.others = ProcessesFromLines(host.strings.Get(sample->others));
    if (!device.device_name.empty()) {
      pressure.name = absl::StrCat(device.device_name,
                                   device.pci_bus_id.empty() ? "" : " at ",
                                   device.pci_bus_id);
    }
    pressure.pools_bytes = PoolBytesAt(replay, allocators, sample->time_ps);
    pressure.pool_bytes = allocator.usage().At(failed_row).reserved_bytes;
    for (const size_t pool : replay.pools) {
      const AllocatorReplay& other = *allocators[pool];
      if (&other == &allocator) continue;
      pressure.sibling_bytes +=
          other.usage().At(other.PositionAfter(time_ps)).reserved_bytes;
      pressure.siblings.push_back(other.trace().name);
    }
    pressure.pool_limit_bytes = trace.LimitAt(failed_row);
    pressure.request_bytes =
        RoundedBytes(allocator.SiteOf(failed_row).requested_bytes);
    return pressure;
  }
  return std::nullopt;
}

}  // namespace oom_forensics
