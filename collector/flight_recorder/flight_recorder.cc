#include "collector/flight_recorder/flight_recorder.h"

#include <new>
#include <utility>

#include "collector/diagnostics.h"
#include "collector/flight_recorder/memory_story.h"
#include "collector/flight_recorder/report.h"
#include "collector/flight_recorder/run_folder.h"
#include "collector/flight_recorder/summary.h"
#include "collector/flight_recorder/user_line.h"
#include "collector/recording/clock.h"

namespace oom_forensics::collector {
namespace {

// Of the report; the trace has all that the recorder keeps.
constexpr size_t kRecentAllocations = 1000;

// Refused requests whose story is kept for the exceptions that tell of them.
constexpr size_t kTold = 64;

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

}  // namespace

void FlightRecorder::OnOutOfMemory(const RefusedRequest& refused) noexcept {
  count_.fetch_add(1, std::memory_order_relaxed);
  try {
    const int64_t began_ns = CoarseClockNs() - refused.waited_ns;
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock() || began_ns < incident_end_ns_.load()) {
      Join(refused);
      WriteWhatJoined(&lock);
      return;
    }
    const Settings settings = sources_.settings();
    const uint64_t number = incidents_.fetch_add(1) + 1;
    const std::string enough = std::to_string(settings.max_reports);
    if (number > settings.max_reports) {
      Remember(refused, "out of memory number " + std::to_string(number) +
                            " of this process; only the first " + enough +
                            " were reported.");
      if (number == settings.max_reports + 1) {
        Say("out of memory again; " + enough +
            " reports are enough (max_reports), further ones are only counted");
      }
      return;
    }
    std::string error;
    const std::string folder =
        Write("oom", refused, number, Logdir(settings), &error);
    Say(folder.empty() ? "no report was written: " + error
                       : "the whole story: oom-forensics report " + folder);
    incident_end_ns_ = CoarseClockNs();
    WriteWhatJoined(&lock);
  } catch (...) {  // bad_alloc: there is no memory even for the story
    Say("out of memory; there is not enough left to write a report");
  }
}

void FlightRecorder::Join(const RefusedRequest& refused) {
  std::string summary = RequestLine(refused.site);
  {
    std::lock_guard<std::mutex> lock(strings_mutex_);
    if (!told_.empty()) {
      summary += "\nAt the same moment: " + told_.back().summary;
    }
  }
  Remember(refused, std::move(summary));
  ++joined_;
}

void FlightRecorder::Remember(const RefusedRequest& refused,
                              std::string summary) {
  std::lock_guard<std::mutex> lock(strings_mutex_);
  if (told_.size() == kTold) told_.pop_front();
  told_.push_back({std::string(refused.site.shape), std::move(summary)});
}

void FlightRecorder::WriteWhatJoined(std::unique_lock<std::mutex>* lock) {
  // Who joins between the last look and the unlocking finds the lock taken, and
  // leaves it to this thread.
  while (joined_.load() > 0) {
    if (!lock->owns_lock() && !lock->try_lock()) return;
    WriteAgain();
    lock->unlock();
  }
}

void FlightRecorder::WriteAgain() {
  // More may join while it writes.
  while (const uint64_t joined = joined_.exchange(0)) {
    if (!incident_folder_.has_value()) continue;
    SessionFacts session = sources_.session();
    session.origin = "oom";
    session.writes_own_file = true;
    session.buffer_events = sources_.settings().allocation_log_buffer_size;
    const auto recording = sources_.recorder->Recent();
    std::string error;
    const bool written =
        WriteTraceTo(*incident_folder_, session, sources_.allocators(),
                     *recording, sources_.recorder->sites().Snapshot(), &error);
    Say(std::to_string(joined) + " more requests were refused at the same " +
        "moment" + (written ? "" : "; they are not in the report: " + error));
    incident_end_ns_ = CoarseClockNs();
  }
}

std::string FlightRecorder::Snapshot(const std::string& logdir,
                                     std::string* error) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::string folder =
      Write("snapshot", {}, 0,
            logdir.empty() ? Logdir(sources_.settings()) : logdir, error);
  // What joined an incident meanwhile found this taken.
  WriteWhatJoined(&lock);
  return folder;
}

bool FlightRecorder::WriteTraceTo(const RunFolder& folder,
                                  const SessionFacts& session,
                                  const std::vector<AllocatorState>& states,
                                  const Recording& recording,
                                  const std::vector<const Site*>& sites,
                                  std::string* error) {
  std::vector<AllocatorInfo> allocators;
  for (const AllocatorState& state : states) {
    if (state.has_events) allocators.push_back(state.info);
  }
  const uint64_t address_shift = AddressShift(session, recording);
  const std::string name = HostName() + ".xplane.pb";
  const bool written = folder.Write(
      name,
      WriteTrace(session, allocators, recording, sites,
                 sources_.recorder->stacks().Snapshot()) +
          sources_.device_planes(recording.baseline.time_ns, address_shift) +
          sources_.module_plane(recording, sites),
      error);
  if (written) {
    written_runs_.Add({folder.path() + "/" + name, session.origin,
                       address_shift, folder.remote_logdir()});
  }
  return written;
}

std::string FlightRecorder::Write(const std::string& origin,
                                  const RefusedRequest& refused,
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
                refused.sequence, kRecentAllocations);
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
              WriteTraceTo(*folder, session, story.allocators, *recording,
                           sites, error);
    if (!written) folder->RemoveIfEmpty();
  }
  if (origin == "oom") {
    incident_folder_.reset();
    if (written) incident_folder_ = folder;
  }
  if (!summary.empty()) {
    if (written) summary.push_back("The whole story: " + folder->path());
    Remember(refused, JoinLines(summary));
  }
  std::lock_guard<std::mutex> lock(strings_mutex_);
  last_report_ = report;
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

std::string FlightRecorder::SummaryFor(const std::string& message) {
  std::lock_guard<std::mutex> lock(strings_mutex_);
  for (auto told = told_.rbegin(); told != told_.rend(); ++told) {
    // "OOM when allocating tensor with shape[8,16] and type float on ..."
    if (message.find("shape" + told->shape + " ") != std::string::npos) {
      return told->summary;
    }
  }
  return told_.empty() ? "" : told_.back().summary;
}

void FlightRecorder::AfterForkInChild() {
  // Their owners, if they had any, are in the parent.
  new (&mutex_) std::mutex;
  new (&strings_mutex_) std::mutex;
  // The parent writes the incident that it has.
  joined_ = 0;
  incident_end_ns_ = 0;
  written_runs_.AfterForkInChild();
}

}  // namespace oom_forensics::collector
