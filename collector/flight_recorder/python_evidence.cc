#include "collector/flight_recorder/python_evidence.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <thread>
#include <utility>

#include "collector/json_writer.h"
#include "collector/recording/thread_state.h"

namespace oom_forensics::collector {
namespace {

// The interpreter's end waits so long for a look that is under way.
constexpr std::chrono::seconds kLastWait{5};

// A file in memory that holds `bytes`; -1: there is none to be had.
int FileOf(const std::string& bytes) {
  const int file = memfd_create("oom_forensics", MFD_CLOEXEC);
  if (file < 0) return -1;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written =
        write(file, bytes.data() + done, bytes.size() - done);
    if (written <= 0) {
      close(file);
      return -1;
    }
    done += static_cast<size_t>(written);
  }
  return file;
}

std::string QuestionOf(uint64_t incident, const RefusedRequest& request,
                       int trace, uint64_t address_shift,
                       double limit_seconds) {
  JsonWriter json;
  json.BeginObject();
  json.Field("incident", incident);
  json.Field("trace", "/proc/self/fd/" + std::to_string(trace));
  json.Field("address_shift", std::to_string(address_shift));
  json.Field("op", request.site.op);
  json.Field("shape", request.site.shape);
  json.Field("dtype", int64_t{request.site.dtype});
  json.Field("eager", request.site.mode == ExecutionMode::kEager);
  json.Field("step_id", request.step_id);
  json.Field("allocator", request.allocator);
  json.Field("thread", std::to_string(request.python_thread));
  json.Field("limit_seconds", limit_seconds);
  json.EndObject();
  return json.Take();
}

}  // namespace

void PythonEvidence::SetLook(Look look) {
  std::unique_lock<std::mutex> lock(mutex_);
  look_ = look;
  if (look == nullptr) {
    changed_.wait_for(lock, kLastWait, [this] { return !looks_; });
  }
}

bool PythonEvidence::CanLook() {
  std::lock_guard<std::mutex> lock(mutex_);
  return look_ != nullptr;
}

std::string PythonEvidence::Begin(uint64_t incident,
                                  const RefusedRequest& request,
                                  const std::string& xspace,
                                  uint64_t address_shift,
                                  double limit_seconds) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (look_ == nullptr)
    return "Python does not run in this process, or is ending";
  if (looks_) return "Python is still busy with an earlier out-of-memory";
  const int trace = FileOf(xspace);
  if (trace < 0) return "there is no room for a file in memory";
  try {
    std::thread([this, trace,
                 question = QuestionOf(incident, request, trace, address_shift,
                                       limit_seconds)] {
      LookAt(question, trace);
    }).detach();
  } catch (...) {
    close(trace);
    return "no thread could be started";
  }
  looks_ = true;
  incident_ = incident;
  planes_.clear();
  return "";
}

void PythonEvidence::LookAt(const std::string& question, int trace) {
  CurrentThread().is_looking = true;
  Look look = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    look = look_;
  }
  if (look != nullptr) look(question.c_str());
  close(trace);
  std::lock_guard<std::mutex> lock(mutex_);
  looks_ = false;
  changed_.notify_all();
}

bool PythonEvidence::Add(uint64_t incident, std::string_view planes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (incident != incident_ || look_ == nullptr) return false;
  planes_.append(planes);
  return true;
}

bool PythonEvidence::WaitForEnd(uint64_t incident,
                                std::chrono::steady_clock::time_point end) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_until(lock, end,
                             [&] { return !looks_ || incident != incident_; });
}

std::string PythonEvidence::Take(uint64_t incident) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (incident != incident_) return "";
  incident_ = 0;
  return std::exchange(planes_, {});
}

void PythonEvidence::AfterForkInChild() {
  new (&mutex_) std::mutex;
  new (&changed_) std::condition_variable;
  // Who looked does so in the parent.
  looks_ = false;
  incident_ = 0;
}

}  // namespace oom_forensics::collector
