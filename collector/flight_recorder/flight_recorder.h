// FlightRecorder: leaves the story behind when memory runs out, without a
// profile and without anyone having asked: a few lines on stderr, a trace of
// the last events that opens like any other, and a JSON report, which also
// stays in the process for Python to read.
//
// It works in the thread whose request has just failed, after the allocator has
// given up and holds no lock, and before the op hears of it: the report is on
// disk even if nobody catches the error. The first few of a process are
// reported so; further ones, as a search for the batch size makes them, are
// only counted.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "collector/flight_recorder/memory_story.h"
#include "collector/flight_recorder/written_runs.h"
#include "collector/recording/recorder.h"
#include "collector/settings.h"
#include "collector/tensorflow/allocator_state.h"
#include "collector/trace/trace_writer.h"

namespace oom_forensics::collector {

class FlightRecorder {
 public:
  struct Sources {
    Recorder* recorder = nullptr;
    // Asks every allocator for its state; takes their locks.
    std::function<std::vector<AllocatorState>()> allocators;
    // The facts of the process; the flight recorder fills in the origin.
    std::function<SessionFacts()> session;
    std::function<Settings()> settings;
    // How full the device of an allocator was at the last out-of-memory.
    DeviceOf device_of = [](const AllocatorInfo&) { return std::nullopt; };
    // The planes of the CUDA devices since a time (nanoseconds since the
    // epoch), as an XSpace to append; empty without a device.
    std::function<std::string(int64_t start_ns)> device_planes = [](int64_t) {
      return std::string();
    };
    // The plane of the modules that XLA compiled, as an XSpace to append; empty
    // where XLA plays no part.
    std::function<std::string(const Recording&,
                              const std::vector<const Site*>&)>
        module_plane = [](const Recording&, const std::vector<const Site*>&) {
          return std::string();
        };
  };

  explicit FlightRecorder(Sources sources) : sources_(std::move(sources)) {}

  // Reports the failure with this sequence. Never throws, never fails the job.
  void OnOutOfMemory(uint64_t sequence) noexcept;

  // Writes what is there now into `logdir` (empty: where reports go). Returns
  // the folder, or nothing and a sentence in `error`.
  std::string Snapshot(const std::string& logdir, std::string* error);

  // A profiler session or a callback of this process writes there.
  void LearnLogdir(const std::string& logdir);

  // The JSON report of the last out-of-memory or snapshot; empty if there was
  // none.
  std::string LastReport();
  // The summary of the last out-of-memory, its lines separated by newlines.
  std::string LastSummary();
  // Out-of-memories so far, reported or not.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

  // The runs that were written here or by a recording of Python.
  WrittenRuns& written_runs() { return written_runs_; }

  // fork(): see Recorder.
  void AfterForkInChild();

 private:
  // Makes trace and report and writes them. Guarded by mutex_.
  std::string Write(const std::string& origin, uint64_t sequence,
                    uint64_t number, const std::string& logdir,
                    std::string* error);
  // Where reports go: as configured, as learnt, or the default; in this order.
  std::string Logdir(const Settings& settings);

  const Sources sources_;
  WrittenRuns written_runs_;
  std::atomic<uint64_t> count_{0};
  // Held while a report is written. Who finds it taken does not wait: the
  // failures of other threads meanwhile are in that report's trace or counted.
  std::mutex mutex_;
  // Guards the strings below.
  std::mutex strings_mutex_;
  std::string learnt_logdir_;
  std::string last_report_;
  std::string last_summary_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
