// Settings: what the user may choose, from the environment
// (OOM_FORENSICS_<NAME>, in capitals) or from Python (configure(name=...)). A
// wrong value in the environment is reported once and replaced by the default;
// it never stops an import.
#ifndef OOM_FORENSICS_COLLECTOR_SETTINGS_H_
#define OOM_FORENSICS_COLLECTOR_SETTINGS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "collector/watcher_settings.h"

namespace oom_forensics::collector {

// Under sampling, an allocation of at least this size is recorded always: what
// fills a device is then known exactly, and only the small change estimated.
inline constexpr uint64_t kAlwaysKeptBytes = uint64_t{1} << 20;

// What is added to a run from Python's side of the process. All of it can be
// changed at any time.
struct EvidenceSettings {
  // False: Python adds nothing to a run.
  bool enabled = true;
  // The user's source lines.
  bool source_lines = true;
  // Who keeps the live tensors from being freed.
  bool keepers = true;
  // What the step that ran out of memory would have needed.
  bool forecast = true;
  // Path prefixes, separated by colons: code below them is the user's, or a
  // library's, wherever it is installed. The longest prefix decides.
  std::string user_paths;
  std::string library_paths;
  // How the path of a source file stands in a run: "full", "project" (from the
  // project's root on, of other files the name alone) or "none".
  std::string source_paths = "full";
};

// When a snapshot is taken before anything has failed
// (live/snapshot_triggers.h).
struct TriggerSettings {
  // Once so large a share of the limit was in use; 0: never.
  double limit_share = 0;
  // At each peak that exceeds the last one by more than a twentieth.
  bool new_peak = false;
  // Once use grew in so many steps in a row; 0: never.
  uint64_t growth_steps = 0;

  bool any() const { return limit_share > 0 || new_peak || growth_steps != 0; }
};

struct Settings {
  // OOM_FORENSICS=0: nothing of TensorFlow is touched.
  bool enabled = true;
  // Events that the always-on recorder keeps. 61 bytes each.
  uint64_t allocation_log_buffer_size = 100'000;
  // The share of the allocations below kAlwaysKeptBytes that is recorded, each
  // by its own toss. A recorded one stands for 1 / rate of its kind, so sums
  // are unbiased; the standard error of a sum of bytes over n recorded small
  // allocations of size b is about b * sqrt(n * (1 - rate)) / rate.
  double allocation_log_sampling_rate = 1;
  // Smaller requests are counted but not recorded.
  uint64_t min_bytes = 0;
  // Addresses are shifted by an amount that the trace does not tell: stable
  // within a report, useless outside of it.
  bool anonymize_addresses = false;
  // Where reports go. Empty: the logdir of a profiler session or TensorBoard
  // callback of this process, else a folder for temporary files.
  std::string logdir;
  // Files are written for so many out-of-memories of a process; the rest is
  // counted.
  uint64_t max_reports = 5;
  // A refused request is held so long, at most, for its report to be on disk
  // before its caller hears of it.
  uint64_t max_hold_seconds = 5;
  // The most bytes of compiled modules (HLO with its buffer assignment) that go
  // into a run; 0: none.
  uint64_t max_module_bytes = uint64_t{32} << 20;
  // A signal by whose number a snapshot is written, "SIGUSR2" for example;
  // empty: none.
  std::string snapshot_signal;
  // Events that one profiler session keeps; what comes after is counted. 48
  // bytes each in memory, about 30 in the trace.
  uint64_t capture_events = 8'000'000;
  // Other programs of the same user may ask how this one is doing
  // (live/live_server.h).
  bool live = true;
  TriggerSettings snapshot_at;
  // False: no file is kept for the case that the process dies without a word.
  bool black_box = true;
  // Whether blocks of NumPy, Python and other libraries are watched, too: it
  // makes their malloc slower (docs/black-box.md).
  bool host = false;
  EvidenceSettings evidence;
  // Device memory beside TensorFlow's allocators.
  cupti::WatcherSettings device_memory;
};

// Sets the setting `name` ("min_bytes") from its text. Returns a sentence if
// there is no such setting or the text is not a value of it, else nothing.
std::string SetSetting(std::string_view name, const std::string& text,
                       Settings* settings);

// Whether the setting `name` is one of EvidenceSettings.
bool IsEvidenceSetting(std::string_view name);

// Reads the environment. Appends one sentence to `warnings` for each value that
// is not understood.
Settings SettingsFromEnvironment(std::vector<std::string>* warnings);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_SETTINGS_H_
