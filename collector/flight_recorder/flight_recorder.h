// FlightRecorder: leaves the story behind when memory runs out, without a
// profile and without anyone having asked: a few lines on stderr, a trace of
// the last events that opens like any other, and a JSON report, which also
// stays in the process for Python to read.
//
// An incident has a thread of its own, which looks, asks Python and writes. A
// refused request is held until all of that is on disk, so that it is there
// even if the op, or TensorFlow, then takes the process down; but never longer
// than `max_hold_seconds`, whatever a disk or Python does.
//
//   waits ──▶ the incident begins; after a second Python is asked
//     ├─ gets memory ──▶ it is forgotten
//     └─ refused ──▶ trace and report ──▶ with Python's planes ──▶ complete:
//                                                  the refused go on
//
// Threads and replicas fail together: who is refused before the incident is
// complete belongs to it and is in its trace, which is written over once for
// that. Who began to wait before it was complete and is refused later belongs
// to it too, and is only told of in its own error. The first few incidents of
// a process are reported; further ones, as a search for the batch size makes
// them, are only counted.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "collector/flight_recorder/python_evidence.h"
#include "collector/flight_recorder/run.h"
#include "collector/flight_recorder/stories.h"
#include "collector/flight_recorder/written_runs.h"
#include "collector/settings.h"
#include "collector/tensorflow/request_recorder.h"
#include "core/outside_pool.h"

namespace oom_forensics::collector {

class FlightRecorder : public RefusalListener {
 public:
  explicit FlightRecorder(RunSources sources) : sources_(std::move(sources)) {}

  uint64_t OnWait(const RefusedRequest& request) noexcept override;
  void OnWaitOver(uint64_t incident) noexcept override;
  // Reports a request that has just been refused. Never throws, never fails
  // the job.
  void OnOutOfMemory(const RefusedRequest& refused) noexcept override;

  // Writes what is there now into `logdir` (empty: where reports go). Returns
  // the folder, or nothing and a sentence in `error`.
  std::string Snapshot(const std::string& logdir, std::string* error);
  // The same for one who watches from outside: the process's own last report
  // and list of runs stay as they are.
  std::string SnapshotForWatcher(const std::string& folder, std::string* error);

  // A library failed that had no memory of its own, as an error with this
  // message tells, right after the devices were looked at: writes what is there
  // now. Returns the story, a few lines; empty where the message tells of
  // something else, or no device is known.
  std::string OnLibraryFailure(const std::string& message);

  // A profiler session or a callback of this process writes there.
  void LearnLogdir(const std::string& logdir);

  // Where reports go now.
  std::string CurrentLogdir() { return Logdir(sources_.settings()); }

  // Python is about to end. Waits, a moment, for what is being written.
  void StopEvidence();

  // Out-of-memories so far, reported or not; several of one incident count
  // each.
  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  // The same by what the allocator's own numbers said of each (Verdict.kind in
  // datasets.proto); all requests of an incident have its first one's. Those of
  // the incident under way are not in it yet; libraries' failures are.
  std::map<std::string_view, uint64_t> CountByVerdict();

  PythonEvidence& evidence() { return evidence_; }
  Stories& stories() { return stories_; }
  // The runs that were written here or by a recording of Python.
  WrittenRuns& written_runs() { return written_runs_; }

  // fork(): see Recorder.
  void AfterForkInChild();

 private:
  // As Snapshot(); whom it asks are `sources`.
  std::string WriteSnapshot(const RunSources& sources,
                            const std::string& logdir, std::string* error);

  using Clock = std::chrono::steady_clock;
  static constexpr std::string_view kNoVerdict = "UNKNOWN";

  // All but the id is guarded by mutex_.
  struct Incident {
    uint64_t id = 0;
    // Requests that wait.
    int waiting = 0;
    // The first one that waited, or was refused.
    RefusedRequest first;
    std::vector<RefusedRequest> refused;
    Clock::time_point refused_at;
    std::string_view verdict = kNoVerdict;
    // Where its run lies; empty: none was written.
    std::string run_path;
    bool is_over = false;
    // When it was, as CoarseClockNs().
    int64_t over_ns = 0;
    // It took too long for one already.
    bool holds_nobody = false;
  };
  // What came of asking Python.
  struct Question {
    std::optional<uint64_t> address_shift;
    // Why it was not asked; empty: it was.
    std::string why_not = "it was not asked";
  };

  // Begins an incident with a thread of its own; null where there is none to
  // be had. With mutex_ held.
  std::shared_ptr<Incident> Begin(const RefusedRequest& request);
  // The thread.
  void Attend(Incident* incident);
  // Waits until a request is refused, and asks Python if that takes a while.
  // False: all got their memory.
  bool AwaitRefusal(Incident* incident, Question* question);
  void Ask(const Incident& incident, const RefusedRequest& request,
           const std::string& xspace, uint64_t address_shift,
           std::chrono::duration<double> limit, Question* question);
  void Report(Incident* incident, Question question);
  // Counts a library's failure and writes a run of it; returns its story.
  std::string TellOf(const FailedLibrary& failed);
  // Makes known what was written; `error`: why not all was.
  void Tell(const Run& run, uint64_t incident, const RefusedRequest& refused,
            const std::string& error);
  // Whether a refusal, or a wait, belongs to the last incident, which is over:
  // it waited with the others, or its step fails anyway. Each op of a step
  // waits for its own 10 s. With mutex_ held.
  bool IsInItsWake(const RefusedRequest& refused) const;
  // Only counts an incident; says so once. With mutex_ held.
  void CountOnly(const RefusedRequest& refused, const Settings& settings);
  void End(const std::shared_ptr<Incident>& incident) noexcept;
  // With mutex_ held.
  void CountVerdict(std::string_view verdict, uint64_t count = 1) noexcept;
  // Where reports go: as configured, as learnt, or the default; in this order.
  std::string Logdir(const Settings& settings);

  const RunSources sources_;
  PythonEvidence evidence_;
  Stories stories_;
  WrittenRuns written_runs_;
  std::atomic<uint64_t> count_{0};

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_. The incident that is under way; null: none is.
  std::shared_ptr<Incident> incident_;
  uint64_t begun_ = 0;
  // Those in which a request was refused.
  uint64_t incidents_ = 0;
  std::map<std::string_view, uint64_t> verdicts_;
  // The last of those, once it is over; null: there was none.
  std::shared_ptr<const Incident> last_;
  // Those that Python was asked about for nothing.
  int vain_questions_ = 0;
  std::string learnt_logdir_;

  // The library's failure that was told last. Another thread of the same step
  // meets the same one; the same thread again a new one.
  struct ToldFailure {
    std::string_view library;
    int64_t step = kNoStep;
    std::set<std::thread::id> threads;
    std::string story;
  };
  // Held while a failure is told.
  std::mutex library_mutex_;
  ToldFailure told_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_FLIGHT_RECORDER_H_
