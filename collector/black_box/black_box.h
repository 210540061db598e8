// BlackBox: keeps the last state of this process in a file that survives any
// death of it (core/black_box.h). A thread of its own looks at the memory of
// the process ten times a second; what holds the memory is written by who sees
// it (host_blocks).
#ifndef OOM_FORENSICS_COLLECTOR_BLACK_BOX_BLACK_BOX_H_
#define OOM_FORENSICS_COLLECTOR_BLACK_BOX_BLACK_BOX_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "collector/black_box/activities.h"
#include "collector/black_box/box_file.h"
#include "collector/black_box/host_probe.h"

namespace oom_forensics::collector {

// What TensorFlow and Python have of the host's memory.
struct HostParts {
  uint64_t tensorflow_bytes = 0;
  uint64_t pool_bytes = 0;
  uint64_t native_bytes = 0;
  uint64_t python_bytes = 0;
};

class BlackBox {
 public:
  struct Sources {
    // Must not wait for a lock that is held for long.
    std::function<HostParts()> parts;
    // The bytes of these parts that nothing has touched yet. Takes longer.
    std::function<HostParts()> untouched_parts;
    // Called at each look: libraries may have been loaded.
    std::function<void()> at_each_look = [] {};
  };

  explicit BlackBox(Sources sources) : sources_(std::move(sources)) {}

  // Makes the file in the first of `folders` that can have one, and begins to
  // fill it. A run of it belongs into `logdir`. Returns why there is none, else
  // nothing. To be called once.
  std::string Start(const std::vector<BoxFolder>& folders,
                    const std::string& logdir,
                    const std::string& tensorflow_version);

  // A profiler session or a callback of this process writes there.
  void LearnLogdir(const std::string& logdir) noexcept;
  // A run of an out-of-memory was written.
  void LearnOomRun(const std::string& run) noexcept;
  // A negative number: none is under way.
  void BeginStep(int64_t step) noexcept {
    step_.store(step, std::memory_order_relaxed);
  }

  // The program begins what takes memory (see Activities). Returns what ends
  // it; a negative number: it is not kept.
  int BeginActivity(black_box::ActivityKind kind, std::string_view name,
                    std::string_view where) noexcept;
  void EndActivity(int index, uint64_t live, uint64_t element_bytes,
                   std::string_view what) noexcept;

  // Has `look` called, in a thread of its own, each time that more of the
  // memory that the process may have is in use than one of a few steps before
  // the end: with how much of it, in percent, and how much is left. Null: no
  // longer; waits a few seconds for a look that is under way. One that takes
  // longer is left alone: what it uses must stay.
  using ShortageLook = void (*)(int percent, uint64_t left_bytes);
  void OnShortage(ShortageLook look) noexcept;

  // Null without a file.
  black_box::Box* box() const { return box_.load(std::memory_order_acquire); }
  // Where the file is, or why there is none.
  const std::string& state() const { return state_; }

  // The process ends by a MemoryError that nothing caught: the file stays.
  void EndByMemoryError() noexcept;
  // The process ends well: nothing is left.
  static void EndWell();
  // The process is asked to end, and is going to: as well, unless memory is
  // short. A handler of a signal may call it.
  static void EndAsAsked();

  // fork(): see Recorder.
  void AfterForkInChild() noexcept;

 private:
  void WriteHeader(const std::string& logdir,
                   const std::string& tensorflow_version);
  void Watch() noexcept;
  void NoteOwnLimit() noexcept;
  // Has Python look if memory has become shorter by a step.
  void TellOfShortage(const HostLook& look) noexcept;
  // Adds a sample to the rings that are due.
  void AddSample(const HostLook& look, const HostParts& parts) noexcept;

  const Sources sources_;
  std::unique_ptr<HostProbe> probe_;
  std::unique_ptr<BoxFile> file_;
  std::atomic<black_box::Box*> box_{nullptr};
  std::string state_ = "off";
  Activities activities_;
  std::atomic<int64_t> step_{-1};
  int64_t last_in_ring_ns_[black_box::kRings] = {};
  std::mutex look_mutex_;
  std::condition_variable look_ended_;
  ShortageLook look_ = nullptr;
  bool is_looking_ = false;
  int told_percent_ = 0;
};

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_BLACK_BOX_BLACK_BOX_H_
