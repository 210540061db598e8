// FlightRecorder: leaves the story behind when memory runs out, without a
// profile and without anyone having asked: a few lines on stderr, a trace of
// the last events that opens like any other, and a JSON report, which also
// stays in the process for Python to read.
//
// It works in the thread whose request has just failed, after the allocator has
// given up and holds no lock, and before the op hears of it: the report is on
// disk even if nobody catches the error.
//
// Incidents. Threads and replicas fail together: a request that began to wait
// before the last report was complete belongs to the same incident. It gets no
// report of its own; the trace of the incident is written again, so that it
// holds that failure too. The first few incidents of a process are reported;
// further ones, as a search for the batch size makes them, are only counted.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "collector/flight_recorder/memory_story.h"
#include "collector/flight_recorder/run_folder.h"
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
    // epoch), their addresses less `address_shift`, as an XSpace to append;
    // empty without a device.
    std::function<std::string(int64_t start_ns, uint64_t address_shift)>
        device_planes = [](int64_t, uint64_t) { return std::string(); };
    // The plane of the modules that XLA compiled, as an XSpace to append; empty
    // where XLA plays no part.
    std::function<std::string(const Recording&,
                              const std::vector<const Site*>&)>
        module_plane = [](const Recording&, const std::vector<const Site*>&) {
          return std::string();
        };
  };

  explicit FlightRecorder(Sources sources) : sources_(std::move(sources)) {}

  // Reports a request that has just been refused. Never throws, never fails the
  // job.
  void OnOutOfMemory(const RefusedRequest& refused) noexcept;

  // Writes what is there now into `logdir` (empty: where reports go). Returns
  // the folder, or nothing and a sentence in `error`.
  std::string Snapshot(const std::string& logdir, std::string* error);

  // A profiler session or a callback of this process writes there.
  void LearnLogdir(const std::string& logdir);

  // Where reports go now.
  std::string CurrentLogdir() { return Logdir(sources_.settings()); }

  // The JSON report of the last out-of-memory or snapshot; empty if there was
  // none.
  std::string LastReport();
  // The summary of the out-of-memory that TensorFlow's error with this message
  // tells of: the last one of the shape that it names, else the last one. Its
  // lines are separated by newlines; empty if there was none.
  std::string SummaryFor(const std::string& message);
  // Out-of-memories so far, reported or not; several of one incident count
  // each.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

  // The runs that were written here or by a recording of Python.
  WrittenRuns& written_runs() { return written_runs_; }

  // fork(): see Recorder.
  void AfterForkInChild();

 private:
  // A refused request's shape as TensorFlow's error names it, and its story.
  struct Told {
    std::string shape;
    std::string summary;
  };

  // Makes trace and report and writes them. Guarded by mutex_.
  std::string Write(const std::string& origin, const RefusedRequest& refused,
                    uint64_t number, const std::string& logdir,
                    std::string* error);
  // Sees to it that the incident's trace holds what joined it; unlocks mutex_.
  void WriteWhatJoined(std::unique_lock<std::mutex>* lock);
  // Writes the incident's trace again. Guarded by mutex_.
  void WriteAgain();
  bool WriteTraceTo(const RunFolder& folder, const SessionFacts& session,
                    const std::vector<AllocatorState>& states,
                    const Recording& recording,
                    const std::vector<const Site*>& sites, std::string* error);
  // Another request of the incident that was reported last.
  void Join(const RefusedRequest& refused);
  void Remember(const RefusedRequest& refused, std::string summary);
  // Where reports go: as configured, as learnt, or the default; in this order.
  std::string Logdir(const Settings& settings);

  const Sources sources_;
  WrittenRuns written_runs_;
  std::atomic<uint64_t> count_{0};
  std::atomic<uint64_t> incidents_{0};
  // When the last report was complete, as CoarseClockNs(); 0: there was none.
  std::atomic<int64_t> incident_end_ns_{0};
  // Refused requests that the incident's trace does not hold yet.
  std::atomic<uint64_t> joined_{0};
  // Held while a report is written. Who finds it taken does not wait, and joins
  // the incident; whoever holds it writes the trace again.
  std::mutex mutex_;
  // Where the last incident was written to. Guarded by mutex_.
  std::optional<RunFolder> incident_folder_;
  // Guards what follows.
  std::mutex strings_mutex_;
  std::string learnt_logdir_;
  std::string last_report_;
  // The last ones, newest last.
  std::deque<Told> told_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
