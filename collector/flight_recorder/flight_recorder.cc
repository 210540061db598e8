#include "collector/flight_recorder/flight_recorder.h"

#include <new>
#include <utility>

#include "collector/diagnostics.h"
#include "collector/flight_recorder/memory_story.h"
#include "collector/flight_recorder/report.h"
#include "collector/flight_recorder/run_folder.h"
#include "collector/flight_recorder/summary.h"
#include "collector/flight_recorder/user_line.h"

namespace oom_forensics::collector {
namespace {

// Of the report; the trace has all that the recorder keeps.
constexpr size_t kRecentAllocations = 1000;

std::string Join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

}  // namespace

void FlightRecorder::OnOutOfMemory(uint64_t sequence) noexcept {
  const uint64_t number = count_.fetch_add(1, std::memory_order_relaxed) + 1;
  try {
    const Settings settings = sources_.settings();
    if (number > settings.max_reports) {
      {
        std::lock_guard<std::mutex> strings_lock(strings_mutex_);
        last_summary_ = "out of memory number " + std::to_string(number) +
                        " of this process; only the first " +
                        std::to_string(settings.max_reports) +
                        " were reported.";
      }
      if (number == settings.max_reports + 1) {
        Say("out of memory again; " + std::to_string(settings.max_reports) +
            " reports are enough (max_reports), further ones are only counted");
      }
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;
    std::string error;
    const std::string folder =
        Write("oom", sequence, number, Logdir(settings), &error);
    Say(folder.empty() ? "no report was written: " + error
                       : "the whole story: oom-forensics report " + folder);
  } catch (...) {  // bad_alloc: there is no memory even for the story
    Say("out of memory; there is not enough left to write a report");
  }
}

std::string FlightRecorder::Snapshot(const std::string& logdir,
                                     std::string* error) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Write("snapshot", 0, 0,
               logdir.empty() ? Logdir(sources_.settings()) : logdir, error);
}

std::string FlightRecorder::Write(const std::string& origin, uint64_t sequence,
                                  uint64_t number, const std::string& logdir,
                                  std::string* error) {
  const Settings settings = sources_.settings();
  SessionFacts session = sources_.session();
  session.origin = origin;
  session.writes_own_file = true;
  session.buffer_events = settings.allocation_log_buffer_size;

  const auto recording = sources_.recorder->Recent();
  const auto sites = sources_.recorder->sites().Snapshot();
  const auto stacks = sources_.recorder->stacks().Snapshot();
  const MemoryStory story =
      TellStory(*recording, sites, sources_.allocators(), sources_.device_of,
                sequence, kRecentAllocations);
  std::vector<std::string> summary;
  if (story.oom.has_value()) {
    summary = SummaryLines(story);
    const std::string line =
        UserLine(session.source, stacks, story.oom->site.stack);
    if (!line.empty()) {
      summary.insert(summary.begin() + 1, "It asked at " + line);
    }
  }
  for (const std::string& line : summary) Say(line);

  std::vector<AllocatorFacts> allocators;
  for (const AllocatorState& state : story.allocators) {
    if (state.has_events) allocators.push_back({state.info, ""});
  }
  const std::string host = HostName();
  std::optional<RunFolder> folder;
  if (logdir.empty()) {
    *error = "there is no folder to write to; set OOM_FORENSICS_LOGDIR";
  } else {
    folder = RunFolder::Make(logdir, story.time_ns, origin, error);
  }
  const std::string trace_path =
      folder.has_value() ? folder->path() + "/" + host + ".xplane.pb" : "";
  const std::string report =
      WriteReport(story, session, settings, number, summary, host, trace_path);
  bool written = false;
  if (folder.has_value()) {
    // The trace last: it is by the trace that a run is found.
    written = folder->Write(host + ".oom_report.json", report, error) &&
              folder->Write(
                  host + ".xplane.pb",
                  WriteTrace(session, allocators, *recording, sites, stacks) +
                      sources_.device_planes(recording->baseline.time_ns) +
                      sources_.module_plane(*recording, sites),
                  error);
    if (written) {
      written_runs_.Add(
          {trace_path, origin, AddressShift(session, *recording)});
    } else {
      folder->RemoveIfEmpty();
    }
  }
  std::lock_guard<std::mutex> lock(strings_mutex_);
  last_report_ = report;
  if (!summary.empty()) {
    if (written) summary.push_back("The whole story: " + folder->path());
    last_summary_ = Join(summary);
  }
  return written ? folder->path() : "";
}

std::string FlightRecorder::Logdir(const Settings& settings) {
  if (!settings.logdir.empty()) return settings.logdir;
  {
    std::lock_guard<std::mutex> lock(strings_mutex_);
    if (!learnt_logdir_.empty()) return learnt_logdir_;
  }
  return DefaultLogdir();
}

void FlightRecorder::LearnLogdir(const std::string& logdir) {
  std::lock_guard<std::mutex> lock(strings_mutex_);
  learnt_logdir_ = logdir;
}

std::string FlightRecorder::LastReport() {
  std::lock_guard<std::mutex> lock(strings_mutex_);
  return last_report_;
}

std::string FlightRecorder::LastSummary() {
  std::lock_guard<std::mutex> lock(strings_mutex_);
  return last_summary_;
}

void FlightRecorder::AfterForkInChild() {
  // Their owners, if they had any, are in the parent.
  new (&mutex_) std::mutex;
  new (&strings_mutex_) std::mutex;
  written_runs_.AfterForkInChild();
}

}  // namespace oom_forensics::collector
