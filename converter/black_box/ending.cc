#include "converter/black_box/ending.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "converter/text/text.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// A line of the log this long before the last sample is of something else.
constexpr int64_t kSlackNs = 5'000'000'000;
// The log of a kernel is a few MiB at most.
constexpr size_t kMaxLogBytes = size_t{16} << 20;

int64_t ClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::string ReadKernelLog() {
  std::string log;
  const int file = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return log;
  char record[8192];
  while (log.size() < kMaxLogBytes) {
    const ssize_t bytes = read(file, record, sizeof(record));
    // EPIPE: records were overwritten meanwhile; the next one follows.
    if (bytes < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (bytes <= 0) break;
    log.append(record, static_cast<size_t>(bytes));
  }
  close(file);
  return log;
}

uint64_t OwnPidNamespace() {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

// How often the kernel has killed in a cgroup; none where it is gone.
std::optional<uint64_t> KillsIn(const std::string& cgroup) {
  for (const char* name : {"/memory.events", "/memory.oom_control"}) {
    std::ifstream file(cgroup + name);
    std::string line;
    while (std::getline(file, line)) {
      uint64_t kills = 0;
      if (StartsWith(line, "oom_kill ") &&
          ParseInteger(std::string_view(line).substr(9), &kills)) {
        return kills;
      }
    }
  }
  return std::nullopt;
}

// Version 2 alone: whether the kernel kills all of a cgroup or nothing of it.
bool EndsAsAGroup(const std::string& cgroup) {
  std::string line;
  return !cgroup.empty() &&
         std::getline(std::ifstream(cgroup + "/memory.oom.group"), line) &&
         line == "1";
}

}  // namespace

std::string SignalName(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? absl::StrCat("signal ", signal)
                         : absl::StrCat("SIG", name);
}

Ending EndingInKernelLog(std::string_view log, const ReadBox& box,
                         int64_t boot_ns) {
  Ending ending;
  const std::string killed =
      absl::StrCat("Killed process ", box.header().process_id, " (");
  const std::string of_process =
      absl::StrCat("[", box.header().process_id, "]");
  for (const absl::string_view record : absl::StrSplit(Absl(log), '\n')) {
    // "priority,sequence,microseconds,flags;text"; lines of a record's
    // dictionary begin with a space.
    const size_t text_at = record.find(';');
    if (text_at == absl::string_view::npos || record[0] == ' ') continue;
    const std::vector<absl::string_view> parts =
        absl::StrSplit(record.substr(0, text_at), ',');
    int64_t time_us = 0;
    if (parts.size() < 3 || !absl::SimpleAtoi(parts[2], &time_us) ||
        boot_ns + time_us * 1000 < box.last_ns() - kSlackNs) {
      continue;
    }
    const absl::string_view text = record.substr(text_at + 1);
    if (absl::StrContains(text, killed)) {
      ending.end = "kernel";
      ending.signal = SIGKILL;
      ending.seen = absl::StrCat("The kernel's log: ", text);
    } else if (absl::StrContains(text, of_process) &&
               (absl::StrContains(text, "segfault") ||
                absl::StrContains(text, "general protection"))) {
      ending.end = "signal";
      ending.signal = SIGSEGV;
      ending.seen = absl::StrCat("The kernel's log: ", text);
    }
  }
  return ending;
}

Ending FindEnding(const ReadBox& box, const std::optional<WaitStatus>& status) {
  const black_box::Header& header = box.header();
  Ending ending;
  if (header.pid_namespace == OwnPidNamespace()) {
    ending =
        EndingInKernelLog(ReadKernelLog(), box,
                          ClockNs(CLOCK_REALTIME) - ClockNs(CLOCK_MONOTONIC));
  }
  const std::string cgroup = box.cgroup();
  // The count of a cgroup tells of every process in it: one that says how it
  // ended is believed.
  if (ending.end == "unknown" && header.end == black_box::End::kRunning &&
      !cgroup.empty()) {
    const auto kills = KillsIn(cgroup);
    const bool was_killed = !status.has_value() || status->signal == SIGKILL;
    if (was_killed && kills.has_value() && *kills > header.kills_at_start) {
      ending.end = "kernel";
      ending.signal = SIGKILL;
      ending.seen =
          absl::StrCat("The kernel has killed ",
                       CountOf(*kills - header.kills_at_start, "process"),
                       " of ", cgroup, " since this one began.");
    }
  }
  ending.whole_group = ending.end == "kernel" && EndsAsAGroup(cgroup);
  if (ending.end != "unknown") return ending;
  switch (header.end.load()) {
    case black_box::End::kAbort:
      ending.end = "abort";
      ending.signal = SIGABRT;
      ending.seen = "The process called abort().";
      return ending;
    case black_box::End::kExitCall:
      ending.end = "exit_call";
      ending.exit_code = absl::StrCat(header.exit_code.load());
      ending.seen = "The process called _exit().";
      return ending;
    case black_box::End::kAsked:
      ending.end = "asked";
      ending.seen = "The process noted it.";
      return ending;
    case black_box::End::kMemoryError:
      ending.end = "memory_error";
      ending.seen = "Python noted it.";
      return ending;
    case black_box::End::kRunning:
      break;
  }
  if (!status.has_value()) return ending;
  if (status->signal != 0) {
    ending.end = "signal";
    ending.signal = status->signal;
    ending.seen = absl::StrCat("It ended by ", SignalName(status->signal), ".");
  } else {
    ending.end = "exit_call";
    ending.exit_code = absl::StrCat(status->exit_code);
    ending.seen = absl::StrCat("It ended with exit code ", status->exit_code,
                               " and ran none of its handlers.");
  }
  return ending;
}

}  // namespace oom_forensics
