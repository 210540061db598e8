#include "collector/flight_recorder/written_runs.h"

#include <new>
#include <utility>

#include "collector/json_writer.h"

namespace oom_forensics::collector {
namespace {

constexpr size_t kMostRuns = 16;

}  // namespace

void WrittenRuns::Add(WrittenRun run) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (runs_.size() == kMostRuns) runs_.erase(runs_.begin());
  runs_.push_back(std::move(run));
}

std::string WrittenRuns::TakeJson() {
  std::vector<WrittenRun> runs;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    runs.swap(runs_);
  }
  JsonWriter json;
  json.BeginArray();
  for (const WrittenRun& run : runs) {
    json.BeginObject();
    json.Field("trace", run.trace_path);
    json.Field("origin", run.origin);
    json.Field("address_shift", std::to_string(run.address_shift));
    json.Field("remote_logdir", run.remote_logdir);
    json.Field("incident", run.incident);
    json.EndObject();
  }
  json.EndArray();
  return json.Take();
}

void WrittenRuns::AfterForkInChild() {
  // Its owner, if it had one, is in the parent.
  new (&mutex_) std::mutex;
  runs_.clear();
}

}  // namespace oom_forensics::collector
