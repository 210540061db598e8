#include "collector/collector.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "collector/clock.h"
#include "collector/diagnostics.h"
#include "collector/json_writer.h"
#include "collector/region_hooks.h"
#include "collector/thread_state.h"
#include "collector/trace_writer.h"
#include "collector/version.h"

extern char** environ;

namespace oom_forensics::collector {
namespace {

std::atomic<Collector*> g_collector{nullptr};
Recorder* g_forking_recorder = nullptr;

// Environment variables by which TensorFlow decides how to allocate.
constexpr const char* kAllocationVariables[] = {
    "TF_CPU_ALLOCATOR_USE_BFC",
    "TF_CPU_BFC_MEM_LIMIT_IN_MB",
    "TF_ENABLE_GPU_GARBAGE_COLLECTION",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_GPU_HOST_MEM_LIMIT_IN_MB",
    "TF_CUDA_HOST_MEM_LIMIT_IN_MB",
    "TF_PER_DEVICE_MEMORY_LIMIT_MB",
    "CUDA_VISIBLE_DEVICES",
};

std::string AllocationEnvironment() {
  std::string lines;
  for (const char* name : kAllocationVariables) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    if (!lines.empty()) lines += '\n';
    lines += std::string(name) + "=" + value;
  }
  return lines;
}

void KeepWholeOverFork(Recorder* recorder) {
  g_forking_recorder = recorder;
  pthread_atfork([] { g_forking_recorder->BeforeFork(); },
                 [] { g_forking_recorder->AfterForkInParent(); },
                 [] {
                   CurrentThread().os_id = 0;
                   g_forking_recorder->AfterForkInChild();
                 });
}

}  // namespace

Collector& Collector::Load() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::vector<std::string> warnings;
    const Settings settings = SettingsFromEnvironment(&warnings);
    for (const std::string& warning : warnings) Say(warning);
    auto* collector = new Collector(settings);
    if (settings.enabled) collector->Hook();
    g_collector.store(collector, std::memory_order_release);
  });
  return *Get();
}

Collector* Collector::Get() {
  return g_collector.load(std::memory_order_acquire);
}

Collector::Collector(const Settings& settings)
    : settings_(settings),
      recorder_(settings),
      device_memory_(settings.device_memory) {
  hooks_.hooks = "switched off by OOM_FORENSICS=0";
  hooks_.attribution = hooks_.hooks;
}

void Collector::Hook() {
  const auto library = TensorFlowLibrary::Find();
  if (!library.has_value()) {
    hooks_.hooks = "libtensorflow_framework.so.2 is not loaded";
    hooks_.attribution = "off: no allocator is hooked";
  } else {
    tensorflow_version_ = library->Version();
    KeepWholeOverFork(&recorder_);
    hooks_ = InstallBfcHooks(*library, &recorder_);
    if (hooks_.allocators_hooked) {
      hooks_.hooks += '\n' + InstallRegionHooks(*library, &recorder_);
      device_memory_.Install();
      SetDeviceProbe(&Collector::ProbeDevices);
    }
  }
  const std::string version = tensorflow_version_.empty()
                                  ? "TensorFlow"
                                  : "TensorFlow " + tensorflow_version_;
  if (!hooks_.allocators_hooked) {
    Say(version + " is not recognised; nothing is recorded (" + hooks_.hooks +
        ")");
  } else if (hooks_.attribution != "on") {
    Say("allocations of " + version +
        " are recorded without op names, attribution is " + hooks_.attribution);
  }
}

void Collector::ProbeDevices(ProbeMoment moment) noexcept {
  Collector* const collector = Get();
  if (collector == nullptr) return;
  try {
    if (moment == ProbeMoment::kOutOfMemory) {
      collector->device_memory_.Sample("oom", cupti::SampleDepth::kFull);
    } else {
      collector->device_memory_.Sample("region growth",
                                       cupti::SampleDepth::kQuick);
    }
  } catch (...) {  // bad_alloc: one sample is lost
  }
}

std::string Collector::TakeDevicePlanes() {
  std::string planes = device_memory_.WritePlanes(session_start_ns_);
  device_memory_.EndSession();
  return planes;
}

void Collector::StartSession() {
  if (!hooks_.allocators_hooked) return;
  session_start_ns_ = WallClockNs();
  device_memory_.StartSession();
  recorder_.StartCapture();
  baseline_dumps_.clear();
  for (size_t i = 0; i < recorder_.allocators().size(); ++i) {
    baseline_dumps_.push_back(MemoryDumpOf(i));
  }
}

std::string Collector::StopSession() {
  const std::unique_ptr<Capture> capture = recorder_.StopCapture();
  if (capture == nullptr) return "";
  SessionFacts session;
  session.origin = "profile";
  session.tensorflow_version = tensorflow_version_;
  session.hooks = hooks_.hooks;
  session.attribution = hooks_.attribution;
  const cupti::WatchMode watch = device_memory_.Mode();
  session.cupti_mode = watch.mode;
  session.cupti_reason = watch.reason;
  session.environment = AllocationEnvironment();
  session.buffer_events = settings_.capture_events;
  std::vector<AllocatorFacts> allocators;
  for (size_t i = 0; i < recorder_.allocators().size(); ++i) {
    AllocatorFacts facts;
    facts.info = recorder_.allocators().at(i);
    if (i < baseline_dumps_.size()) facts.baseline_dump = baseline_dumps_[i];
    allocators.push_back(std::move(facts));
  }
  return WriteTrace(session, allocators, *capture,
                    recorder_.sites().Snapshot());
}

std::string Collector::StatusJson() const {
  JsonWriter json;
  json.BeginObject();
  json.Field("collectorVersion", kCollectorVersion);
  json.Field("tensorflowVersion", tensorflow_version_);
  json.Field("enabled", settings_.enabled);
  json.Field("hooked", hooks_.allocators_hooked);
  json.Field("hooks", hooks_.hooks);
  json.Field("attribution", hooks_.attribution);
  const cupti::WatchMode watch = device_memory_.Mode();
  json.Field("cuptiMode", watch.mode);
  json.Field("cuptiReason", watch.reason);
  json.Field("cuptiTee", device_memory_.TeeState());
  json.EndObject();
  return json.Take();
}

}  // namespace oom_forensics::collector
