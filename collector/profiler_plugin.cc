// The profiler plugin: what TensorFlow calls when it has loaded the library,
// and at the beginning and end of every profiler session.
#include <pthread.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <string>

#include "collector/collector.h"
#include "collector/diagnostics.h"
#include "collector/no_throw.h"
#include "collector/other_copy.h"
#include "collector/pluggable_profiler_api.h"

namespace oom_forensics::collector {
namespace {

// The finished session, until TensorFlow has fetched it. Sessions of one
// process never overlap.
struct FinishedSession {
  std::mutex mutex;
  std::string trace;
};

FinishedSession& Finished() {
  static auto* const finished = [] {
    // In the child of a fork() nobody holds it who held it in the parent.
    pthread_atfork(nullptr, nullptr,
                   [] { new (&Finished().mutex) std::mutex; });
    return new FinishedSession;
  }();
  return *finished;
}

void Start(const TP_Profiler*, TF_Status*) {
  NoThrow([] { Collector::Load().StartSession(); });
}

void Stop(const TP_Profiler*, TF_Status*) {
  NoThrow([] {
    std::string trace = Collector::Load().StopSession();
    std::lock_guard<std::mutex> lock(Finished().mutex);
    Finished().trace = std::move(trace);
  });
}

// Once per session: TensorFlow asks for the size, then for the bytes. All
// tracers have stopped then, so CUPTI has given back what it had.
size_t SizeOfFinished() {
  std::lock_guard<std::mutex> lock(Finished().mutex);
  std::string& trace = Finished().trace;
  if (!trace.empty()) trace += Collector::Load().TakeDevicePlanes();
  return trace.size();
}

void CollectData(const TP_Profiler*, uint8_t* buffer, size_t* size_in_bytes,
                 TF_Status*) {
  if (buffer == nullptr) {
    *size_in_bytes = NoThrow(SizeOfFinished, size_t{0});
    return;
  }
  NoThrow([&] {
    std::lock_guard<std::mutex> lock(Finished().mutex);
    std::string& trace = Finished().trace;
    // Another session may have ended since the size was asked for.
    *size_in_bytes = std::min(*size_in_bytes, trace.size());
    std::memcpy(buffer, trace.data(), *size_in_bytes);
    trace = std::string();
  });
}

void DestroyProfiler(TP_Profiler*) {}
void DestroyProfilerFns(TP_ProfilerFns*) {}

}  // namespace
}  // namespace oom_forensics::collector

extern "C" __attribute__((visibility("default"))) void TF_InitProfiler(
    TF_ProfilerRegistrationParams* params, TF_Status*) {
  using namespace oom_forensics::collector;
  // It has been called before where one file is found by two paths.
  if (Collector::Get() == nullptr && NoThrow(OtherCopyIsAtWork, false)) return;
  if (!NoThrow([] { Collector::Load(); })) return;
  // Another layout: what the loader has filled in, which does nothing, stays.
  if (params->struct_size < sizeof(TF_ProfilerRegistrationParams) ||
      params->major_version != TP_MAJOR ||
      params->profiler->struct_size < sizeof(TP_Profiler) ||
      params->profiler_fns->struct_size < sizeof(TP_ProfilerFns)) {
    Say("this TensorFlow's profiler plugins are of another version; its "
        "profiles have no allocation events");
    return;
  }
  params->destroy_profiler = DestroyProfiler;
  params->destroy_profiler_fns = DestroyProfilerFns;
  params->profiler->device_type = "OOM_FORENSICS";
  params->profiler_fns->start = Start;
  params->profiler_fns->stop = Stop;
  params->profiler_fns->collect_data_xspace = CollectData;
}
