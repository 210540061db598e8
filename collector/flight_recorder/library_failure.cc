// FlightRecorder::OnLibraryFailure(): errors in which no allocator refused
// anything, and a library of NVIDIA's found no memory.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "collector/diagnostics.h"
#include "collector/flight_recorder/flight_recorder.h"
#include "collector/flight_recorder/refusal.h"
#include "core/outside_pool.h"

namespace oom_forensics::collector {
namespace {

// The fullest device, of those that TensorFlow's pools lie on.
std::optional<OutsidePool> FullestDevice(const RunSources& sources) {
  const RegionsByPool regions =
      RegionsBefore(*sources.recorder->Recent(), UINT64_MAX);
  std::map<int, OutsidePool> devices;
  for (const AllocatorState& state : sources.allocators()) {
    if (state.info.cuda_device < 0) continue;
    const std::optional<DeviceNumbers> numbers = sources.device_of(state.info);
    if (!numbers.has_value()) continue;
    OutsidePool& device = devices[state.info.cuda_device];
    device.device = *numbers;
    device.pools_bytes += ReservedBytes(regions, state);
    if (state.statistics.has_value()) {
      device.pools_in_use_bytes += state.statistics->bytes_in_use;
    }
  }
  const auto fullest = std::min_element(
      devices.begin(), devices.end(), [](const auto& a, const auto& b) {
        return a.second.device.free_bytes < b.second.device.free_bytes;
      });
  if (fullest == devices.end()) return std::nullopt;
  return fullest->second;
}

}  // namespace

std::string FlightRecorder::OnLibraryFailure(const std::string& message) {
  if (IsRefusedCopy(message)) return stories_.SummaryFor(message);
  const std::string_view library = LibraryWithoutMemory(message);
  if (library.empty()) return "";
  const std::lock_guard<std::mutex> telling(library_mutex_);
  const int64_t step = sources_.recorder->TrainingStep();
  if (told_.library == library && told_.step == step &&
      told_.threads.insert(std::this_thread::get_id()).second) {
    return told_.story;
  }
  const std::optional<OutsidePool> device = FullestDevice(sources_);
  if (!device.has_value() && !SaysMemoryWasRefused(message)) return "";
  const FailedLibrary failed{message, device.value_or(OutsidePool())};
  told_ = {library, step, {std::this_thread::get_id()}, TellOf(failed)};
  return told_.story;
}

std::string FlightRecorder::TellOf(const FailedLibrary& failed) {
  const OutsidePoolVerdict verdict = JudgeOutsidePool(failed);
  std::string story = verdict.sentence + "\n" + verdict.remedy;
  bool is_reported = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // Else the device had enough: that was no out-of-memory.
    if (verdict.kind != kNoVerdict) CountVerdict(verdict.kind);
    is_reported = incidents_ < sources_.settings().max_reports;
    if (is_reported) ++incidents_;
  }
  if (!is_reported) return story;
  std::string error;
  RunSources sources = sources_;
  sources.session = [&] {
    SessionFacts facts = sources_.session();
    facts.failed_library = failed;
    return facts;
  };
  const std::string folder = WriteSnapshot(sources, "", &error);
  story += folder.empty() ? "\nNo run was written: " + error
                          : "\nThe whole story: " + folder;
  Say(verdict.sentence);
  Say(verdict.remedy);
  Say(folder.empty() ? "no run was written: " + error
                     : "the whole story: oom-forensics report " + folder);
  return story;
}

}  // namespace oom_forensics::collector
