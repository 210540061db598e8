// Run: a run in the making. It looks at the recorder once, says in a few lines
// what it saw, and writes the trace.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_RUN_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/flight_recorder/refusal.h"
#include "collector/flight_recorder/run_folder.h"
#include "collector/flight_recorder/written_runs.h"
#include "collector/recording/recorder.h"
#include "collector/settings.h"
#include "collector/tensorflow/allocator_state.h"
#include "collector/trace/trace_writer.h"

namespace oom_forensics::collector {

// Whom the flight recorder asks.
struct RunSources {
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
  std::function<std::string(const Recording&, const std::vector<const Site*>&)>
      module_plane = [](const Recording&, const std::vector<const Site*>&) {
        return std::string();
      };
  // Hears of the folder of an out-of-memory's run before the request that was
  // refused returns: the process may end right after.
  std::function<void(const std::string& path)> oom_run_written =
      [](const std::string&) {};
};

// The recorder's last events and live set as a serialized XSpace.
struct RecentTrace {
  SessionFacts session;
  std::unique_ptr<Recording> recording;
  std::vector<const Site*> sites;
  std::vector<AllocatorState> allocators;
  std::string xspace;
};

// Looks at the recorder. `address_shift`: what is taken off every address, as
// another trace of the same moment has it; none: as the settings say.
RecentTrace TakeRecentTrace(const RunSources& sources,
                            const std::string& origin,
                            std::optional<uint64_t> address_shift);

class Run {
 public:
  // The run of a refused request; or, where `refused.sequence` is 0, of this
  // moment.
  Run(const RunSources& sources, const std::string& origin,
      const RefusedRequest& refused, std::optional<uint64_t> address_shift);

  // What happened, a line each; empty where nothing was refused.
  const std::vector<std::string>& summary() const { return summary_; }
  // What the allocator's own numbers say of it: Verdict.kind in datasets.proto.
  std::string_view verdict() const {
    return refusal_.has_value() ? refusal_->placement.kind : "UNKNOWN";
  }
  // The trace without Python's planes.
  const std::string& xspace() const { return trace_.xspace; }
  uint64_t address_shift() const { return trace_.session.address_shift; }
  // Empty before the first Write().
  std::string path() const;

  // Takes the trace again, with what happened since, unless the recorder has
  // forgotten meanwhile what this run is about.
  void LookAgain();

  // Writes the trace into a new run folder of `logdir`, or, from the second
  // time on, over what was written. `planes` are Python's, `why_incomplete`
  // says why they or a part of them are missing. False and a sentence in
  // `error` on failure; what was written before is then still there.
  bool Write(const std::string& logdir, const std::string& planes,
             const std::string& why_incomplete, std::string* error);

  // As it stands in the list of written runs; `incident`: 0 for none.
  WrittenRun Written(uint64_t incident) const;

 private:
  const RunSources& sources_;
  const RefusedRequest refused_;
  RecentTrace trace_;
  std::optional<Refusal> refusal_;
  std::vector<std::string> summary_;
  std::optional<RunFolder> folder_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_RUN_H_
