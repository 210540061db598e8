#include "collector/collector.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "collector/black_box/host_hooks.h"
#include "collector/black_box/python_arenas.h"
#include "collector/diagnostics.h"
#include "collector/json_writer.h"
#include "collector/python/gil.h"
#include "collector/python_bridge.h"
#include "collector/recording/clock.h"
#include "collector/recording/thread_state.h"
#include "collector/snapshot_signal.h"
#include "collector/trace/modules_plane.h"
#include "collector/trace/trace_writer.h"
#include "collector/version.h"
#include "core/outside_pool.h"
#include "core/pool_name.h"

extern char** environ;

namespace oom_forensics::collector {
namespace {

std::atomic<Collector*> g_collector{nullptr};

// Environment variables by which TensorFlow decides how to allocate.
constexpr const char* kAllocationVariables[] = {
    "TF_CPU_ALLOCATOR_USE_BFC",
    "TF_CPU_BFC_MEM_LIMIT_IN_MB",
    "TF_ENABLE_GPU_GARBAGE_COLLECTION",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_GPU_HOST_MEM_LIMIT_IN_MB",
    "TF_CUDA_HOST_MEM_LIMIT_IN_MB",
    "TF_MKL_ALLOC_MAX_BYTES",
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

}  // namespace

Collector& Collector::Load() {
  static std::once_flag once;
  std::call_once(once, [] {
    std::vector<std::string> warnings;
    const Settings settings = SettingsFromEnvironment(&warnings);
    for (const std::string& warning : warnings) Say(warning);
    auto* collector = new Collector(settings);
    g_collector.store(collector, std::memory_order_release);
    if (settings.enabled) {
      collector->Hook();
      collector->StartBlackBox();
      ActivatePythonPart(collector->black_box_.box() == nullptr
                             ? nullptr
                             : &WatchPythonArenas);
    }
    collector->ListenForSignal();
    collector->ListenForQuestions();
  });
  return *Get();
}

Collector* Collector::Get() {
  return g_collector.load(std::memory_order_acquire);
}

Collector::Collector(const Settings& settings)
    : settings_(settings),
      recorder_(settings),
      stacks_(&recorder_.stacks()),
      flight_recorder_(
          {&recorder_, [this] { return AllocatorStates(StateDepth::kMap); },
           [this] { return Facts(); }, [this] { return CurrentSettings(); },
           [this](const AllocatorInfo& info) {
             return device_memory_.LastFullSample(
                 info.cuda_device >= 0
                     ? info.cuda_device
                     : GpuOrdinalOf(info.name, info.device_name));
           },
           [this](int64_t start_ns, uint64_t address_shift) {
             return device_memory_.WritePlanes(start_ns, address_shift);
           },
           [this](const Recording& recording,
                  const std::vector<const Site*>& sites) {
             return ModulesPlane(recording, sites);
           },
           [this](const std::string& run) { black_box_.LearnOomRun(run); }}),
      host_blocks_(&recorder_.stacks()),
      black_box_({[this] { return PartsOfHost(); },
                  [this] { return UntouchedPartsOfHost(); },
                  PatchNewLibraries}),
      device_memory_(settings.device_memory),
      captures_({&recorder_, &device_memory_, &flight_recorder_.written_runs(),
                 [this] { return KnownAllocators(); },
                 [this] { return Facts(); },
                 [this] { return CurrentSettings(); },
                 [this](const Recording& recording,
                        const std::vector<const Site*>& sites) {
                   return ModulesPlane(recording, sites);
                 }}) {}

void Collector::Hook() {
  if (std::exchange(hook_tried_, true)) return;
  ListenForForks();
  xla_.Listen([this](const XlaModule& module, uint64_t alive) {
    OnCompiled(module, alive);
  });
  hooked_.Install(&recorder_, &stacks_, &xla_, &host_blocks_,
                  &flight_recorder_);
  if (!hooked_.allocators_hooked()) return;
  device_memory_.Install();
  SetDeviceProbe(&Collector::ProbeDevices);
}

void Collector::ListenForForks() {
  // What is guarded is locked, so that the child finds it whole: in the order
  // in which it is locked elsewhere.
  pthread_atfork(
      [] {
        HostHooksBeforeFork();
        Get()->settings_mutex_.lock();
        Get()->xla_.BeforeFork();
        Get()->recorder_.BeforeFork();
      },
      [] {
        Get()->recorder_.AfterForkInParent();
        Get()->xla_.AfterForkInParent();
        Get()->settings_mutex_.unlock();
        HostHooksAfterForkInParent();
      },
      [] {
        CurrentThread().os_id = 0;
        Get()->settings_mutex_.unlock();
        // Who held it, if anyone, is in the parent.
        new (&Get()->trends_mutex_) std::mutex;
        Get()->captures_.AfterForkInChild();
        Get()->recorder_.AfterForkInChild();
        Get()->stacks_.AfterForkInChild();
        Get()->flight_recorder_.AfterForkInChild();
        Get()->xla_.AfterForkInChild();
        Get()->live_server_.AfterForkInChild();
        Get()->black_box_.AfterForkInChild();
        HostHooksAfterForkInChild();
      });
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

void Collector::ListenForSignal() {
  const std::string signal = CurrentSettings().snapshot_signal;
  if (signal.empty()) return;
  const bool listening = ListenForSnapshotSignal(signal, [this] {
    std::string error;
    const std::string folder = flight_recorder_.Snapshot("", &error);
    Say(folder.empty() ? "no snapshot was written: " + error
                       : "snapshot: " + folder);
  });
  if (!listening) {
    Say(signal + " is used by something else; it takes no snapshots");
  }
}

void Collector::ListenForQuestions() {
  if (!settings_.enabled || !settings_.live) return;
  const std::string why_not = live_server_.Start(
      [this](std::string_view request) { return AnswerLive(request); });
  if (!why_not.empty()) {
    Say("this process cannot be watched: " + why_not);
  }
}

std::string Collector::AnswerLive(std::string_view request) {
  constexpr std::string_view kSnapshot = "snapshot ";
  JsonWriter json;
  json.BeginObject();
  if (request == "state") return LiveStateJson();
  if (request.substr(0, kSnapshot.size()) == kSnapshot) {
    std::string error;
    const std::string folder = flight_recorder_.SnapshotForWatcher(
        std::string(request.substr(kSnapshot.size())), &error);
    json.Field(folder.empty() ? "error" : "folder",
               folder.empty() ? error : folder);
  } else {
    json.Field("error", "the questions are: state, snapshot FOLDER");
  }
  json.EndObject();
  return json.Take();
}

std::string Collector::LiveStateJson() {
  const std::vector<AllocatorState> states =
      AllocatorStates(StateDepth::kCounters);
  const int64_t now_ns = WallClockNs();
  JsonWriter json;
  json.BeginObject();
  json.Field("pid", static_cast<int64_t>(getpid()));
  json.Field("time_ns", now_ns);
  json.Field("collector_version", kCollectorVersion);
  json.Field("tensorflow_version", hooked_.version());
  json.Field("logdir", flight_recorder_.CurrentLogdir());
  const int64_t step = step_.load(std::memory_order_relaxed);
  if (step != kNoStep) json.Field("step", step);
  json.Field("out_of_memories", flight_recorder_.count());
  json.Name("verdicts");
  json.BeginObject();
  for (const auto& [verdict, count] : flight_recorder_.CountByVerdict()) {
    json.Field(verdict, count);
  }
  json.EndObject();
  json.Name("allocators");
  json.BeginArray();
  for (const AllocatorState& state : states) WriteAllocatorState(state, &json);
  json.EndArray();
  json.Name("trends");
  json.BeginArray();
  std::lock_guard<std::mutex> lock(trends_mutex_);
  for (const AllocatorState& state : states) {
    if (!state.statistics.has_value()) continue;
    const std::string name = FullName(state.info);
    UsageTrend& trend = trends_[name];
    trend.Add(now_ns, state.statistics->bytes_in_use);
    const std::optional<double> growth = trend.BytesPerSecond();
    if (!growth.has_value()) continue;
    json.BeginObject();
    json.Field("allocator", name);
    json.Field("bytes_per_second", *growth);
    if (const auto left = trend.SecondsUntil(state.statistics->limit_bytes)) {
      json.Field("seconds_until_full", *left);
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

std::string Collector::Configure(const std::string& name,
                                 const std::string& value) {
  std::lock_guard<std::mutex> lock(settings_mutex_);
  Settings changed = settings_;
  const std::string error = SetSetting(name, value, &changed);
  if (!error.empty()) return error;
  if (name == "enabled") {
    if (changed.enabled) Hook();
    hooked_.SetActive(changed.enabled);
    recorder_.Clear();
    saw_everything_ = false;
  } else if (name == "snapshot_signal" || name == "cupti" ||
             name == "cupti_source" || name == "live" || name == "black_box" ||
             name == "host") {
    return name + " is read when TensorFlow is imported; set it before";
  } else if (name != "logdir" && name != "max_reports" &&
             name != "max_hold_seconds" && name != "max_module_bytes" &&
             name != "anonymize_addresses" && name != "snapshot_at" &&
             !IsEvidenceSetting(name) && !recorder_.Reconfigure(changed)) {
    return name + " can only be set before the first allocation";
  }
  settings_ = changed;
  if (IsEvidenceSetting(name)) ApplySourceSettings();
  return "";
}

std::string Collector::StartStacks(uint32_t hexversion,
                                   const python::KnownFrame* frames,
                                   size_t count) {
  return stacks_.Start(hexversion, dlsym(RTLD_DEFAULT, "_PyRuntime"),
                       python::ThisThreadState(), frames, count);
}

void Collector::StopStacks() { stacks_.Stop("Python has ended"); }

void Collector::SetSourceRoots(const std::string& library_prefixes,
                               const std::string& project_root) {
  std::lock_guard<std::mutex> lock(settings_mutex_);
  library_prefixes_ = library_prefixes;
  project_root_ = project_root;
  ApplySourceSettings();
}

void Collector::ApplySourceSettings() {
  const EvidenceSettings& settings = settings_.evidence;
  std::vector<std::string> library = python::SplitPrefixes(library_prefixes_);
  for (std::string& prefix : python::SplitPrefixes(settings.library_paths)) {
    library.push_back(std::move(prefix));
  }
  stacks_.SetOrigin(
      {std::move(library), python::SplitPrefixes(settings.user_paths)});
  stacks_.SetEnabled(settings.enabled && settings.source_lines);
}

Settings Collector::CurrentSettings() {
  std::lock_guard<std::mutex> lock(settings_mutex_);
  return settings_;
}

SessionFacts Collector::Facts() {
  const Settings settings = CurrentSettings();
  SessionFacts facts;
  facts.tensorflow_version = hooked_.version();
  facts.hooks = hooked_.sentences();
  facts.attribution = hooked_.attribution();
  const cupti::WatchMode watch = device_memory_.Mode();
  facts.cupti_mode = watch.mode;
  facts.cupti_reason = watch.reason;
  facts.environment = AllocationEnvironment();
  facts.unnamed_allocations = recorder_.sites().unnamed();
  facts.unknown_allocator_requests = recorder_.allocators().unknown();
  facts.sampling_rate = settings.allocation_log_sampling_rate;
  facts.min_bytes = settings.min_bytes;
  facts.anonymize_addresses = settings.anonymize_addresses;
  facts.source.state = stacks_.State();
  facts.source.dropped_stacks = recorder_.stacks().dropped();
  facts.source.paths = settings.evidence.source_paths;
  {
    std::lock_guard<std::mutex> lock(settings_mutex_);
    facts.source.project_root = project_root_;
  }
  return facts;
}

std::vector<AllocatorInfo> Collector::KnownAllocators() {
  std::vector<AllocatorInfo> allocators;
  for (size_t i = 0; i < recorder_.allocators().size(); ++i) {
    allocators.push_back(recorder_.allocators().Describe(i));
    allocators.back().complete &= saw_everything_;
  }
  return allocators;
}

std::string Collector::OnLibraryFailure(const std::string& message) {
  if (!LibraryWithoutMemory(message).empty()) {
    device_memory_.Sample("library failure", cupti::SampleDepth::kFull);
  }
  return flight_recorder_.OnLibraryFailure(message);
}

std::vector<AllocatorState> Collector::AllocatorStates(StateDepth depth) {
  std::vector<AllocatorState> states = StatesOfAllocators(depth);
  for (AllocatorState& state : states) {
    if (!state.has_events) continue;
    state.info.complete &= saw_everything_;
    state.unlisted_allocations = recorder_.CountUnlisted(state.info.id);
  }
  return states;
}

void Collector::StartSession() {
  if (hooked_.allocators_hooked()) captures_.Begin(CaptureOwner::kProfiler);
}

std::string Collector::StopSession() { return captures_.EndSession(); }

std::string Collector::TakeDevicePlanes() {
  return captures_.TakeDevicePlanes();
}

std::string Collector::StartRecording() {
  if (!hooked_.allocators_hooked() || captures_.Begin(CaptureOwner::kPython))
    return "";
  return "a recording is already running; end it before you begin another";
}

std::string Collector::StopAndWriteRecording(const std::string& logdir,
                                             std::string* error) {
  return captures_.EndRecording(logdir, error);
}

std::string Collector::ModulesPlane(const Recording& recording,
                                    const std::vector<const Site*>& sites) {
  const uint64_t max_bytes = CurrentSettings().max_module_bytes;
  std::string why_not;
  std::vector<ModuleProto> modules;
  if (max_bytes != 0) {
    modules = xla_.ReadModules(&why_not);
  } else {
    why_not = "max_module_bytes is 0";
  }
  return WriteModulesPlane(ProgramsByNeed(recording, sites), modules, max_bytes,
                           why_not);
}

bool Collector::BeginStep(int64_t step) {
  if (!hooked_.allocators_hooked()) return false;
  const int64_t begun = step < 0 ? kNoStep : step;
  recorder_.RecordStep(begun, CurrentThread().os_id);
  black_box_.BeginStep(begun);
  step_.store(begun, std::memory_order_relaxed);
  if (begun == kNoStep) return false;
  TriggerSettings snapshot_at;
  {
    // Not a copy of all settings, with their texts, at each step.
    std::lock_guard<std::mutex> lock(settings_mutex_);
    snapshot_at = settings_.snapshot_at;
  }
  if (!snapshot_at.any()) return false;
  const std::string why =
      triggers_.DueAt(snapshot_at, AllocatorStates(StateDepth::kCounters));
  if (why.empty()) return false;
  std::string error;
  const std::string folder = flight_recorder_.Snapshot("", &error);
  Say(why + (folder.empty() ? "; no snapshot was written: " + error
                            : "; snapshot: " + folder));
  return !folder.empty();
}

std::string Collector::StatusJson() {
  const Settings settings = CurrentSettings();
  JsonWriter json;
  json.BeginObject();
  json.Field("loaded", true);
  json.Field("collectorVersion", kCollectorVersion);
  json.Field("tensorflowVersion", hooked_.version());
  json.Field("enabled", settings.enabled);
  json.Field("hooked", hooked_.allocators_hooked());
  json.Field("hooks", hooked_.sentences());
  json.Field("attribution", hooked_.attribution());
  json.Field("compiledFunctions", hooked_.compiled_functions());
  json.Field("stacks", stacks_.State());
  const cupti::WatchMode watch = device_memory_.Mode();
  json.Field("cuptiMode", watch.mode);
  json.Field("cuptiReason", watch.reason);
  json.Field("cuptiTee", device_memory_.TeeState());
  json.Field("logdir", settings.logdir);
  json.Field("blackBox", black_box_.state());
  json.Field("hostBlocks", host_hooks_);
  json.Field("outOfMemories", flight_recorder_.count());
  json.Field("unnamedAllocations", recorder_.sites().unnamed());
  json.Field("unknownAllocatorRequests", recorder_.allocators().unknown());
  json.Name("evidence");
  json.BeginObject();
  json.Field("evidence", settings.evidence.enabled);
  json.Field("source_lines", settings.evidence.source_lines);
  json.Field("keepers", settings.evidence.keepers);
  json.Field("forecast", settings.evidence.forecast);
  json.Field("user_paths", settings.evidence.user_paths);
  json.Field("library_paths", settings.evidence.library_paths);
  json.Field("source_paths", settings.evidence.source_paths);
  json.EndObject();
  json.EndObject();
  return json.Take();
}

std::string Collector::MemoryStatsJson() {
  JsonWriter json;
  json.BeginArray();
  for (const AllocatorState& state : AllocatorStates(StateDepth::kMap)) {
    WriteAllocatorState(state, &json);
  }
  WriteUnknownAllocators(recorder_.allocators().unknown(), &json);
  json.EndArray();
  return json.Take();
}

}  // namespace oom_forensics::collector
