// Collector: the whole of it in one process, joined. Made once, when TensorFlow
// loads the plugin, and never destroyed: threads may be in a hook until the
// process is gone.
#ifndef OOM_FORENSICS_COLLECTOR_COLLECTOR_H_
#define OOM_FORENSICS_COLLECTOR_COLLECTOR_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "collector/black_box/black_box.h"
#include "collector/black_box/host_blocks.h"
#include "collector/captures.h"
#include "collector/cupti/device_memory_watcher.h"
#include "collector/flight_recorder/flight_recorder.h"
#include "collector/hooked_tensorflow.h"
#include "collector/live/live_server.h"
#include "collector/live/snapshot_triggers.h"
#include "collector/live/usage_trend.h"
#include "collector/python/stack_taker.h"
#include "collector/recording/recorder.h"
#include "collector/settings.h"
#include "collector/tensorflow/allocator_state.h"
#include "collector/tensorflow/device_probe.h"
#include "collector/xla/xla.h"

namespace oom_forensics::collector {

class Collector {
 public:
  // Reads the settings and, unless switched off, hooks what is recognized of
  // TensorFlow; further calls return the same. Says in one line on stderr what
  // it cannot do.
  static Collector& Load();

  // The one that Load() made; null before.
  static Collector* Get();

  // A profiler session. StopSession() returns the serialised XSpace, empty
  // without a session.
  void StartSession();
  std::string StopSession();

  // What was seen of the CUDA devices in the session that has just ended, as a
  // serialised XSpace to append to its trace. Call it when TensorFlow's own
  // tracers have ended too.
  std::string TakeDevicePlanes();

  // Keeps all events without TensorFlow's profiler, and whether or not one of
  // its sessions runs. Returns a sentence if it was begun already, else
  // nothing.
  std::string StartRecording();
  // Ends that, and writes its trace into a run folder of `logdir`. Returns the
  // folder, or nothing and a sentence in `error`.
  std::string StopAndWriteRecording(const std::string& logdir,
                                    std::string* error);

  // A training step begins; a negative number: the last one is over. Returns
  // whether a snapshot was written, as the setting `snapshot_at` asks for.
  bool BeginStep(int64_t step);

  // Changes a setting. Returns a sentence if that is not possible, else
  // nothing. What decides which events are recorded can only be changed before
  // the first one.
  std::string Configure(const std::string& name, const std::string& value);

  // Begins to take the Python stacks of allocations; see StackTaker::Start().
  // Returns nothing, or why not.
  std::string StartStacks(uint32_t hexversion, const python::KnownFrame* frames,
                          size_t count);
  // Python is about to end.
  void StopStacks();
  // Path prefixes, a line each: files below them are a library's. And the
  // folder that the user's project is in; empty: not known.
  void SetSourceRoots(const std::string& library_prefixes,
                      const std::string& project_root);

  // A library had no memory of its own: OomForensics_LibraryFailure().
  std::string OnLibraryFailure(const std::string& message);
  // A profiler session or a callback of this process writes there.
  void LearnLogdir(const std::string& logdir);
  BlackBox& black_box() { return black_box_; }

  FlightRecorder& flight_recorder() { return flight_recorder_; }

  // What is hooked and what not, and why, as a JSON object.
  std::string StatusJson();

  // The state of every allocator, as a JSON array.
  std::string MemoryStatsJson();

  // How this process is doing, as a JSON object: allocators without their maps,
  // step, and how fast use has grown from one call to the next.
  std::string LiveStateJson();

 private:
  explicit Collector(const Settings& settings);

  // Hooks TensorFlow, if it was not tried before.
  void Hook();
  static void ListenForForks();
  static void ProbeDevices(ProbeMoment moment) noexcept;
  Settings CurrentSettings();
  SessionFacts Facts();
  // All that the recorder knows, also those that are gone.
  std::vector<AllocatorInfo> KnownAllocators();
  // Those that are there, by their own account.
  std::vector<AllocatorState> AllocatorStates(StateDepth depth);
  // The modules that XLA compiled, as an XSpace to append to a file of our own.
  std::string ModulesPlane(const Recording& recording,
                           const std::vector<const Site*>& sites);
  void ListenForSignal();
  void ListenForQuestions();
  // What LiveServer is asked, in its thread: "state" or "snapshot FOLDER".
  std::string AnswerLive(std::string_view request);
  void StartBlackBox();
  HostParts PartsOfHost();
  HostParts UntouchedPartsOfHost();
  // Tells the black box, in the thread that had it compiled.
  void OnCompiled(const XlaModule& module, uint64_t alive) noexcept;
  // With settings_mutex_ held.
  void ApplySourceSettings();

  std::mutex settings_mutex_;
  Settings settings_;
  // Guarded by settings_mutex_; as SetSourceRoots() had them.
  std::string library_prefixes_;
  std::string project_root_;
  Recorder recorder_;
  python::StackTaker stacks_;
  FlightRecorder flight_recorder_;
  HostBlocks host_blocks_;
  BlackBox black_box_;
  // Whether blocks of libraries are seen, or why not.
  std::string host_hooks_ = "off";
  bool hook_tried_ = false;
  // False once the hooks were out of place for a while: what is live may then
  // be more than is known.
  std::atomic<bool> saw_everything_{true};
  Xla xla_;
  HookedTensorFlow hooked_;
  cupti::DeviceMemoryWatcher device_memory_;
  Captures captures_;
  LiveServer live_server_;
  std::mutex trends_mutex_;
  // By allocator's name.
  std::map<std::string, UsageTrend> trends_;
  // The training step under way, kNoStep outside of any.
  std::atomic<int64_t> step_{kNoStep};
  // Used by the thread that begins steps.
  SnapshotTriggers triggers_;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_COLLECTOR_H_
