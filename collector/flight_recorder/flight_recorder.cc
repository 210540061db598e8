#include "collector/flight_recorder/flight_recorder.h"

#include <algorithm>
#include <new>
#include <thread>
#include <utility>

#include "collector/diagnostics.h"
#include "collector/flight_recorder/run_folder.h"
#include "collector/flight_recorder/summary.h"
#include "collector/no_throw.h"
#include "collector/python/gil.h"
#include "collector/recording/clock.h"
#include "collector/recording/thread_state.h"

namespace oom_forensics::collector {
namespace {

using std::chrono::duration;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Threads wait for each other's memory all the time: one that waits longer may
// be refused.
constexpr milliseconds kPatience{1000};
// TensorFlow's own patience, and how long its end is waited for.
constexpr seconds kTensorFlowWaits{10};
constexpr seconds kLongestWait{60};
// Left of the time that a request is held, to write what Python found.
constexpr duration<double> kToWrite{0.5};
// Python is asked about the first incidents; and for nothing this often.
constexpr uint64_t kMostQuestions = 3;
constexpr int kMostVainQuestions = 5;
// The process's end waits so long for a run that is being written.
constexpr seconds kLastWait{5};

std::string JoinLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

}  // namespace

uint64_t FlightRecorder::OnWait(const RefusedRequest& request) noexcept {
  return NoThrow(
      [&]() -> uint64_t {
        const Settings settings = sources_.settings();
        std::lock_guard<std::mutex> lock(mutex_);
        if (incident_ == nullptr) {
          if (IsInItsWake(request) ||
              incidents_ >= std::min(kMostQuestions, settings.max_reports) ||
              vain_questions_ >= kMostVainQuestions || !evidence_.CanLook() ||
              !settings.evidence.enabled || Begin(request) == nullptr) {
            return 0;
          }
        }
        ++incident_->waiting;
        return incident_->id;
      },
      uint64_t{0});
}

void FlightRecorder::OnWaitOver(uint64_t incident) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (incident_ == nullptr || incident_->id != incident) return;
  if (--incident_->waiting == 0) changed_.notify_all();
}

void FlightRecorder::OnOutOfMemory(const RefusedRequest& refused) noexcept {
  count_.fetch_add(1, std::memory_order_relaxed);
  try {
    const Settings settings = sources_.settings();
    // Python's look needs its lock, and so may others that are refused.
    std::optional<python::ReleasedGil> released;
    if (evidence_.CanLook()) released.emplace();
    std::unique_lock<std::mutex> lock(mutex_);
    const bool joins = incident_ != nullptr;
    if (!joins && IsInItsWake(refused)) {
      // Its run tells of this one, too.
      if (!last_->run_path.empty()) sources_.oom_run_written(last_->run_path);
      CountVerdict(last_->verdict);
      stories_.AddJoined(refused.site.shape, RequestLine(refused.site));
      return;
    }
    if (!joins && incidents_ >= settings.max_reports) {
      CountVerdict(kNoVerdict);
      CountOnly(refused, settings);
      return;
    }
    const std::shared_ptr<Incident> incident =
        joins ? incident_ : Begin(refused);
    if (incident == nullptr) {
      CountVerdict(kNoVerdict);
      Say("out of memory; no thread could be started to write a report");
      return;
    }
    if (incident->refused.empty()) incident->refused_at = Clock::now();
    incident->refused.push_back(refused);
    changed_.notify_all();
    if (incident->holds_nobody || settings.max_hold_seconds == 0) return;
    if (!changed_.wait_for(lock, seconds(settings.max_hold_seconds),
                           [&] { return incident->is_over; })) {
      incident->holds_nobody = true;
      Say("the report is not complete after " +
          std::to_string(settings.max_hold_seconds) +
          " s (max_hold_seconds); the program continues");
    }
  } catch (...) {  // bad_alloc: there is no memory even for the story
    Say("out of memory; not enough is left to write a report");
  }
}

bool FlightRecorder::IsInItsWake(const RefusedRequest& refused) const {
  if (last_ == nullptr) return false;
  return CoarseClockNs() - refused.waited_ns < last_->over_ns ||
         (refused.step_id != 0 &&
          refused.step_id == last_->refused.front().step_id);
}

std::shared_ptr<FlightRecorder::Incident> FlightRecorder::Begin(
    const RefusedRequest& request) {
  auto incident = std::make_shared<Incident>();
  incident->id = ++begun_;
  incident->first = request;
  try {
    std::thread([this, incident] {
      CurrentThread().is_looking = true;
      if (!NoThrow([&] { Attend(incident.get()); })) {
        Say("out of memory; not enough is left to write a report");
      }
      End(incident);
    }).detach();
  } catch (...) {
    return nullptr;
  }
  incident_ = incident;
  return incident;
}

void FlightRecorder::Attend(Incident* incident) {
  Question question;
  if (AwaitRefusal(incident, &question)) Report(incident, std::move(question));
}

bool FlightRecorder::AwaitRefusal(Incident* incident, Question* question) {
  const auto is_decided = [incident] {
    return !incident->refused.empty() || incident->waiting == 0;
  };
  std::unique_lock<std::mutex> lock(mutex_);
  // Who begins an incident holds the lock until it waits, or is refused.
  if (!changed_.wait_for(lock, kPatience, is_decided)) {
    const Settings settings = sources_.settings();
    lock.unlock();
    const RecentTrace trace = TakeRecentTrace(sources_, "oom", std::nullopt);
    const seconds held(settings.max_hold_seconds);
    Ask(*incident, incident->first, trace.xspace, trace.session.address_shift,
        kTensorFlowWaits - kPatience + held - kToWrite, question);
    lock.lock();
    changed_.wait_for(lock, kLongestWait, is_decided);
  }
  if (!incident->refused.empty()) return true;
  // Who is refused from now on begins another.
  incident_.reset();
  if (question->why_not.empty()) {
    ++vain_questions_;
    evidence_.Take(incident->id);
  }
  return false;
}

void FlightRecorder::Ask(const Incident& incident,
                         const RefusedRequest& request,
                         const std::string& xspace, uint64_t address_shift,
                         duration<double> limit, Question* question) {
  question->address_shift = address_shift;
  question->why_not = evidence_.Begin(incident.id, request, xspace,
                                      address_shift, limit.count());
}

void FlightRecorder::Report(Incident* incident, Question question) {
  const Settings settings = sources_.settings();
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t number = ++incidents_;
  const RefusedRequest refused = incident->refused.front();
  const Clock::time_point end =
      incident->refused_at + seconds(settings.max_hold_seconds);
  lock.unlock();

  Run run(sources_, "oom", refused, question.address_shift);
  lock.lock();
  incident->verdict = run.verdict();
  lock.unlock();
  for (const std::string& line : run.summary()) Say(line);
  if (!question.why_not.empty()) {
    if (!settings.evidence.enabled) {
      question.why_not = "it is switched off (evidence)";
    } else if (number > kMostQuestions) {
      question.why_not = "it is asked about the first " +
                         std::to_string(kMostQuestions) + " only";
    } else {
      Ask(*incident, refused, run.xspace(), run.address_shift(),
          end - kToWrite - Clock::now(), &question);
    }
  }
  // Before Python has answered: should the process end meanwhile, this is
  // there.
  const bool asked = question.why_not.empty();
  bool heard = asked && evidence_.WaitForEnd(incident->id, Clock::now());
  std::string planes = heard ? evidence_.Take(incident->id) : "";
  std::string error;
  bool written = run.Write(Logdir(settings), planes,
                           heard   ? ""
                           : asked ? "it has not answered yet"
                                   : question.why_not,
                           &error);
  if (written) sources_.oom_run_written(run.path());
  bool is_behind = asked && !heard;
  if (is_behind) {
    const auto to_write = std::chrono::duration_cast<Clock::duration>(kToWrite);
    heard = written && evidence_.WaitForEnd(incident->id, end - to_write);
    planes = evidence_.Take(incident->id);
    if (!heard)
      question.why_not = planes.empty() ? "it did not answer in time"
                                        : "it did not finish in time";
  }
  lock.lock();
  const size_t in_trace = incident->refused.size();
  if (written) incident->run_path = run.path();
  lock.unlock();
  if (written && (is_behind || in_trace > 1)) {
    if (in_trace > 1) run.LookAgain();
    written = run.Write("", planes, heard ? "" : question.why_not, &error);
  }
  Tell(run, incident->id, refused, written ? "" : error);
  if (written && !heard && settings.evidence.enabled) {
    Say("the report lacks what Python knows, or a part of it: " +
        question.why_not);
  }
}

void FlightRecorder::Tell(const Run& run, uint64_t incident,
                          const RefusedRequest& refused,
                          const std::string& error) {
  std::vector<std::string> summary = run.summary();
  if (!run.path().empty()) {
    Say("the whole story: oom-forensics report " + run.path());
    summary.push_back("The whole story: " + run.path());
    written_runs_.Add(run.Written(incident));
  }
  if (!error.empty()) Say("no report was written: " + error);
  stories_.SetLastRun(run.path());
  stories_.Add(refused.site.shape, JoinLines(summary));
}

void FlightRecorder::CountOnly(const RefusedRequest& refused,
                               const Settings& settings) {
  const uint64_t number = ++incidents_;
  const std::string enough = std::to_string(settings.max_reports);
  stories_.Add(refused.site.shape, "out of memory number " +
                                       std::to_string(number) +
                                       " of this process; only the first " +
                                       enough + " were reported.");
  if (number == settings.max_reports + 1) {
    Say("out of memory again; " + enough +
        " reports were written (max_reports), so further ones are only "
        "counted");
  }
}

void FlightRecorder::End(const std::shared_ptr<Incident>& incident) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!incident->refused.empty()) {
    CountVerdict(incident->verdict, incident->refused.size());
  }
  if (incident->refused.size() > 1) {
    NoThrow([&] {
      Say(std::to_string(incident->refused.size() - 1) +
          " more requests were refused at the same moment");
      for (size_t i = 1; i < incident->refused.size(); ++i) {
        const SiteKey& site = incident->refused[i].site;
        stories_.AddJoined(site.shape, RequestLine(site));
      }
    });
  }
  incident->is_over = true;
  incident->over_ns = CoarseClockNs();
  if (!incident->refused.empty()) last_ = incident;
  if (incident_ == incident) incident_.reset();
  changed_.notify_all();
}

void FlightRecorder::CountVerdict(std::string_view verdict,
                                  uint64_t count) noexcept {
  NoThrow([&] { verdicts_[verdict] += count; });
}

std::map<std::string_view, uint64_t> FlightRecorder::CountByVerdict() {
  std::lock_guard<std::mutex> lock(mutex_);
  return verdicts_;
}

std::string FlightRecorder::Snapshot(const std::string& logdir,
                                     std::string* error) {
  return WriteSnapshot(sources_, logdir, error);
}

std::string FlightRecorder::WriteSnapshot(const RunSources& sources,
                                          const std::string& logdir,
                                          std::string* error) {
  Run run(sources, "snapshot", {}, std::nullopt);
  const bool written = run.Write(
      logdir.empty() ? Logdir(sources_.settings()) : logdir, "", "", error);
  if (!written) return "";
  stories_.SetLastRun(run.path());
  written_runs_.Add(run.Written(0));
  return run.path();
}

std::string FlightRecorder::SnapshotForWatcher(const std::string& folder,
                                               std::string* error) {
  Run run(sources_, "snapshot", {}, std::nullopt);
  return run.Write(folder, "", "", error) ? run.path() : "";
}

std::string FlightRecorder::Logdir(const Settings& settings) {
  if (!settings.logdir.empty()) return settings.logdir;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!learnt_logdir_.empty()) return learnt_logdir_;
  }
  return DefaultLogdir();
}

void FlightRecorder::LearnLogdir(const std::string& logdir) {
  std::lock_guard<std::mutex> lock(mutex_);
  learnt_logdir_ = logdir;
}

void FlightRecorder::StopEvidence() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, kLastWait, [this] {
      return incident_ == nullptr || incident_->refused.empty();
    });
  }
  evidence_.SetLook(nullptr);
}

void FlightRecorder::AfterForkInChild() {
  // Their owners, if they had any, are in the parent, as is the incident.
  new (&mutex_) std::mutex;
  new (&library_mutex_) std::mutex;
  new (&changed_) std::condition_variable;
  incident_.reset();
  incidents_ = 0;
  new (&verdicts_) std::map<std::string_view, uint64_t>;
  last_.reset();
  evidence_.AfterForkInChild();
  stories_.AfterForkInChild();
  written_runs_.AfterForkInChild();
}

}  // namespace oom_forensics::collector
