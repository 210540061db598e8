// Captures: recordings of all events for a while, from their beginning to the
// trace of them. TensorFlow's profiler asks for one, Python for another.
#ifndef OOM_FORENSICS_COLLECTOR_CAPTURES_H_
#define OOM_FORENSICS_COLLECTOR_CAPTURES_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "collector/cupti/device_memory_watcher.h"
#include "collector/flight_recorder/written_runs.h"
#include "collector/recording/recorder.h"
#include "collector/settings.h"
#include "collector/trace/trace_writer.h"

namespace oom_forensics::collector {

class Captures {
 public:
  // What a trace is made of beside its events.
  struct Sources {
    Recorder* recorder = nullptr;
    cupti::DeviceMemoryWatcher* device_memory = nullptr;
    WrittenRuns* written_runs = nullptr;
    std::function<std::vector<AllocatorInfo>()> allocators;
    std::function<SessionFacts()> session;
    std::function<Settings()> settings;
    // As FlightRecorder has it.
    std::function<std::string(const Recording&,
                              const std::vector<const Site*>&)>
        module_plane;
  };

  explicit Captures(Sources sources) : sources_(std::move(sources)) {}

  // False: one of this owner's runs already.
  bool Begin(CaptureOwner owner);

  // Ends the profiler's. Returns the serialised XSpace, empty without one.
  std::string EndSession();
  // See Collector::TakeDevicePlanes().
  std::string TakeDevicePlanes();

  // Ends Python's; see Collector::StopAndWriteRecording().
  std::string EndRecording(const std::string& logdir, std::string* error);

  // Who held its lock, if anyone, is in the parent.
  void AfterForkInChild() { new (&mutex_) std::mutex; }

 private:
  // What a recording needs beside its events.
  struct Context {
    int64_t start_ns = 0;
    // What was taken off the addresses of its trace; once that is written.
    uint64_t address_shift = 0;
  };

  // The recording that has ended and its context; null without one.
  std::unique_ptr<Recording> End(CaptureOwner owner, Context* context);
  std::string Write(const Recording& recording, SessionFacts session) const;

  const Sources sources_;
  std::mutex mutex_;
  // By owner; guarded by mutex_.
  std::array<Context, kCaptureOwners> contexts_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_CAPTURES_H_
