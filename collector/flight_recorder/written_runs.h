// WrittenRuns: the runs that this process wrote and that Python has not heard
// of. Python adds to a snapshot or a recording what only it knows (source
// lines, who keeps the memory) by appending planes to the trace, and sends runs
// to where they belong; it asks here which ones there are.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_WRITTEN_RUNS_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_WRITTEN_RUNS_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace oom_forensics::collector {

struct WrittenRun {
  // The .xplane.pb file.
  std::string trace_path;
  // As kOrigin of the event schema: "oom", "snapshot", "profile".
  std::string origin;
  // What was taken off every address of the trace.
  uint64_t address_shift = 0;
  // The URL of the logdir to which a copy of the run belongs; empty: none.
  std::string remote_logdir;
  // For an out-of-memory: as PythonEvidence has it; 0: none.
  uint64_t incident = 0;
};

class WrittenRuns {
 public:
  // Remembers a run. Nobody may ever ask: only the last few are kept.
  void Add(WrittenRun run);

  // Returns the runs since the last call, oldest first, as a JSON array of
  // {"trace", "origin", "address_shift" (a decimal string), "remote_logdir",
  // "incident"}.
  std::string TakeJson();

  // fork(): the child has written none of them.
  void AfterForkInChild();

 private:
  std::mutex mutex_;
  std::vector<WrittenRun> runs_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_WRITTEN_RUNS_H_
