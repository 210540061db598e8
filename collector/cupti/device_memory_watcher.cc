#include "collector/cupti/device_memory_watcher.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "collector/cupti/cupti_library.h"
#include "collector/cupti/device_plane_writer.h"

namespace oom_forensics::cupti {
namespace {

// TensorFlow's GPU tracer exists in this library, whatever its wrapper is like.
bool HasGpuTracer(const collector::TensorFlowLibrary& library) {
  return library.Symbol("_ZN3xla8profiler17GetCuptiInterfaceEv") != nullptr ||
         library.Symbol("_ZN10tensorflow8profiler17GetCuptiInterfaceEv") !=
             nullptr;
}

}  // namespace

DeviceMemoryWatcher::DeviceMemoryWatcher(const WatcherSettings& settings,
                                         MemorySampler::Libraries libraries)
    : settings_(settings),
      process_id_(getpid()),
      sampler_(&log_, libraries),
      own_(&log_) {}

void DeviceMemoryWatcher::Install(const char* tensorflow) {
  if (settings_.watch == WatchSetting::kOff) return;
  if (settings_.watch == WatchSetting::kSamples) {
    tee_refused_ = "OOM_FORENSICS_CUPTI=samples";
    return;
  }
  const auto library = collector::TensorFlowLibrary::Find(tensorflow);
  if (!library.has_value()) {
    tee_refused_ = std::string(tensorflow) + " is not loaded";
  } else {
    TeeOptions options;
    options.allocation_source = settings_.allocation_source;
    options.before_take = [this] { own_.Yield(); };
    options.after_finalize = [this] { own_.Forget(); };
    tee_refused_ = CuptiTee::Get().Install(*library, std::move(options), &log_);
    tensorflow_may_trace_ = !tee_refused_.empty() && HasGpuTracer(*library);
  }
  TryOwn();
}

void DeviceMemoryWatcher::TryOwn() {
  if (settings_.watch != WatchSetting::kOwn) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (own_.running() || CuptiTee::Get().tensorflow_traces()) return;
  if (tensorflow_may_trace_) {
    own_refused_ = "TensorFlow's GPU tracer would not be seen to begin (" +
                   tee_refused_ + ")";
    return;
  }
  const auto library = CuptiLibrary::Open(&own_refused_);
  if (!library.has_value()) return;
  own_refused_ = own_.Start(*library, settings_.allocation_source);
  own_ran_ = own_ran_ || own_refused_.empty();
}

// In a child of fork() the locks here may be held by threads that are not
// there.
bool DeviceMemoryWatcher::IsOff() const {
  return settings_.watch == WatchSetting::kOff || getpid() != process_id_;
}

void DeviceMemoryWatcher::StartSession() {
  if (IsOff()) return;
  // What the tee brought of an earlier session is history with gaps; what own
  // CUPTI brought has none. Of two that overlap the first one needs it.
  if (sessions_.fetch_add(1) == 0 && !own_ran_) log_.Clear();
  Sample("session start", SampleDepth::kFull);
}

void DeviceMemoryWatcher::EndSession() {
  if (IsOff()) return;
  if (sessions_.load() > 0) sessions_.fetch_sub(1);
  CuptiTee::Get().ForgetSession();
  TryOwn();
}

void DeviceMemoryWatcher::Sample(std::string_view reason, SampleDepth depth) {
  if (IsOff()) return;
  if (sampler_.Sample(reason, depth) == 0) return;
  // CUDA is in use now; it may not have been when own CUPTI was last tried. Not
  // while an allocator waits: that loads a library.
  if (depth == SampleDepth::kFull) TryOwn();
}

std::string DeviceMemoryWatcher::WritePlanes(int64_t start_ns,
                                             uint64_t address_shift) {
  if (IsOff()) return "";
  own_.Flush();
  DeviceLog::Contents contents = log_.Read();
  DeviceFacts facts;
  const WatchMode mode = Mode();
  facts.mode = mode.mode;
  facts.reason = mode.reason;
  facts.clock = mode.mode == "own" ? own_.clock() : CuptiTee::Get().clock();
  if (mode.mode == "own" || mode.mode == "tee") {
    const auto cupti = CuptiLibrary::FindLoaded();
    if (cupti.has_value()) facts.cupti_version = cupti->version();
  }
  facts.name_of = [this](int device) { return sampler_.NameOf(device); };
  facts.pci_bus_id_of = [this](int device) {
    return sampler_.PciBusIdOf(device);
  };
  facts.address_shift = address_shift;
  return WriteDevicePlanes(contents, facts, start_ns);
}

std::string DeviceMemoryWatcher::TeeState() const {
  if (settings_.watch == WatchSetting::kOff) return "switched off";
  if (tee_refused_.empty()) {
    return "in place: a GPU trace of TensorFlow brings CUPTI's memory records";
  }
  return "not in place: " + tee_refused_;
}

WatchMode DeviceMemoryWatcher::Mode() const {
  if (settings_.watch == WatchSetting::kOff) {
    return {"off", "switched off by OOM_FORENSICS_CUPTI=off"};
  }
  if (IsOff()) return {"off", "a forked process: CUDA does not work in it"};
  std::string why;
  if (sampler_.DeviceCount(&why) == 0) return {"off", "no CUDA device: " + why};
  CuptiTee& tee = CuptiTee::Get();
  if (tee.recorded()) {
    return {"tee",
            "through TensorFlow's CuptiWrapper, in its GPU tracer's "
            "session"};
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (own_.running()) return {"own", "TensorFlow's GPU tracer does not run"};
  if (!own_refused_.empty()) return {"samples", own_refused_};
  if (!tee.problem().empty()) return {"samples", tee.problem()};
  if (!tee_refused_.empty()) return {"samples", tee_refused_};
  return {"samples",
          "TensorFlow's GPU tracer does not run, and own CUPTI is "
          "not asked for (OOM_FORENSICS_CUPTI=own)"};
}

}  // namespace oom_forensics::cupti
