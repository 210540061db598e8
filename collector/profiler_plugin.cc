// The profiler plugin: what TensorFlow calls when it has loaded the library,
// and at the beginning and end of every profiler session.
#include <cstring>
#include <mutex>
#include <string>

#include "collector/collector.h"
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
  static auto* const finished = new FinishedSession;
  return *finished;
}

void Start(const TP_Profiler*, TF_Status*) { Collector::Load().StartSession(); }

void Stop(const TP_Profiler*, TF_Status*) {
  std::string trace = Collector::Load().StopSession();
  std::lock_guard<std::mutex> lock(Finished().mutex);
  Finished().trace = std::move(trace);
}

void CollectData(const TP_Profiler*, uint8_t* buffer, size_t* size_in_bytes,
                 TF_Status*) {
  std::lock_guard<std::mutex> lock(Finished().mutex);
  std::string& trace = Finished().trace;
  if (buffer == nullptr) {
    // Once per session: TensorFlow asks for the size, then for the bytes. All
    // tracers have stopped now, so CUPTI has given back what it had.
    if (!trace.empty()) trace += Collector::Load().TakeDevicePlanes();
    *size_in_bytes = trace.size();
    return;
  }
  std::memcpy(buffer, trace.data(), trace.size());
  *size_in_bytes = trace.size();
  trace = std::string();
}

void DestroyProfiler(TP_Profiler*) {}
void DestroyProfilerFns(TP_ProfilerFns*) {}

}  // namespace
}  // namespace oom_forensics::collector

extern "C" __attribute__((visibility("default"))) void TF_InitProfiler(
    TF_ProfilerRegistrationParams* params, TF_Status*) {
  using namespace oom_forensics::collector;
  Collector::Load();
  params->struct_size = sizeof(TF_ProfilerRegistrationParams);
  params->destroy_profiler = DestroyProfiler;
  params->destroy_profiler_fns = DestroyProfilerFns;
  params->profiler->struct_size = sizeof(TP_Profiler);
  params->profiler->device_type = "OOM_FORENSICS";
  params->profiler_fns->struct_size = sizeof(TP_ProfilerFns);
  params->profiler_fns->start = Start;
  params->profiler_fns->stop = Stop;
  params->profiler_fns->collect_data_xspace = CollectData;
}
