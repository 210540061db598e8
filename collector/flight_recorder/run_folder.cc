#include "collector/flight_recorder/run_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace oom_forensics::collector {
namespace {

constexpr char kProfileFolder[] = "/plugins/profile";
// A file that is being written ends so.
constexpr char kTemporary[] = ".tmp";
constexpr int kMaxNumber = 1000;
// For the default folder: runs that are the first of their process, and others.
constexpr size_t kKeptFirstRuns = 64;
constexpr size_t kKeptOtherRuns = 20;
// Marks the former.
constexpr char kFirstOfProcess[] = "/.first_of_process";

std::string Failed(const std::string& what, const std::string& path) {
  return "cannot " + what + " " + path + ": " + std::strerror(errno);
}

bool MakeFolders(const std::string& path, std::string* error) {
  for (size_t end = 1; end <= path.size(); ++end) {
    if (end != path.size() && path[end] != '/') continue;
    const std::string folder = path.substr(0, end);
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
      *error = Failed("make the folder", folder);
      return false;
    }
  }
  return true;
}

bool WriteAll(int file, const std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written =
        write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    done += static_cast<size_t>(written);
  }
  return fsync(file) == 0;
}

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

// Whether another process is at it: its temporary file is there and is no
// remnant of one that died.
bool IsBeingWritten(const std::string& folder,
                    const std::vector<std::string>& files) {
  constexpr time_t kRemnantAfterS = 60;
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    struct stat status;
    return file.size() > sizeof(kTemporary) &&
           file.compare(file.size() - (sizeof(kTemporary) - 1),
                        std::string::npos, kTemporary) == 0 &&
           stat((folder + "/" + file).c_str(), &status) == 0 &&
           time(nullptr) - status.st_mtime < kRemnantAfterS;
  });
}

// Other processes write here too, and what one of them saw first is worth more
// than the fifth report of another.
void RemoveOldRuns(const std::string& logdir) {
  const std::string profiles = logdir + kProfileFolder;
  std::vector<std::string> runs = FilesIn(profiles);
  // Their names begin with their time.
  std::reverse(runs.begin(), runs.end());
  size_t firsts = 0;
  size_t others = 0;
  for (const std::string& run : runs) {
    const std::string folder = profiles + "/" + run;
    const std::vector<std::string> files = FilesIn(folder);
    // Somebody is about to write it, or writes.
    if (files.empty() || IsBeingWritten(folder, files)) continue;
    const bool is_first = access((folder + kFirstOfProcess).c_str(), F_OK) == 0;
    if (is_first ? ++firsts <= kKeptFirstRuns : ++others <= kKeptOtherRuns) {
      continue;
    }
    for (const std::string& file : files) {
      unlink((folder + "/" + file).c_str());
    }
    rmdir(folder.c_str());
  }
}

// Marks a run of the default folder, if it is this process's first.
void MarkFirst(const std::string& run) {
  static std::atomic<pid_t> has_one{0};
  if (has_one.exchange(getpid()) == getpid()) return;
  const int file = open((run + kFirstOfProcess).c_str(),
                        O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file >= 0) close(file);
}

}  // namespace

std::optional<RunFolder> RunFolder::Make(const std::string& logdir,
                                         int64_t time_ns,
                                         const std::string& suffix,
                                         std::string* error) {
  const std::string here = IsUrl(logdir) ? DefaultLogdir() : logdir;
  if (here.empty()) {
    *error = "there is no local folder to write to; set TMPDIR";
    return std::nullopt;
  }
  const std::string profiles = here + kProfileFolder;
  if (!MakeFolders(profiles, error)) return std::nullopt;
  const time_t seconds = time_ns / 1'000'000'000;
  tm local;
  localtime_r(&seconds, &local);
  char text[64];
  strftime(text, sizeof(text), "%Y_%m_%d_%H_%M_%S_", &local);
  const std::string base = profiles + "/" + text + suffix;
  std::string path = base;
  for (int number = 2; mkdir(path.c_str(), 0777) != 0; ++number) {
    if (errno != EEXIST || number > kMaxNumber) {
      *error = Failed("make the folder", path);
      return std::nullopt;
    }
    path = base + "_" + std::to_string(number);
  }
  if (here == DefaultLogdirPath()) MarkFirst(path);
  return RunFolder(path, IsUrl(logdir) ? logdir : "");
}

bool RunFolder::Write(const std::string& name, const std::string& bytes,
                      std::string* error) const {
  const std::string target = path_ + "/" + name;
  const std::string temporary = path_ + "/." + name + kTemporary;
  const int file =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) {
    *error = Failed("write", target);
    return false;
  }
  const bool written = WriteAll(file, bytes);
  if (!written) *error = Failed("write", target);
  const bool closed = close(file) == 0;
  if (written && !closed) *error = Failed("write", target);
  if (written && closed) {
    if (rename(temporary.c_str(), target.c_str()) == 0) return true;
    *error = Failed("write", target);
  }
  unlink(temporary.c_str());
  return false;
}

void RunFolder::RemoveIfEmpty() const {
  unlink((path_ + kFirstOfProcess).c_str());
  rmdir(path_.c_str());
}

std::string DefaultLogdirPath() {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) +
         "/oom_forensics-" + std::to_string(getuid());
}

std::string DefaultLogdir() {
  const std::string logdir = DefaultLogdirPath();
  if (mkdir(logdir.c_str(), 0700) != 0 && errno != EEXIST) return "";
  // The folder for temporary files is everybody's: a link or a folder of
  // someone else under this name is a trap.
  struct stat status;
  if (lstat(logdir.c_str(), &status) != 0 || !S_ISDIR(status.st_mode) ||
      status.st_uid != getuid()) {
    return "";
  }
  RemoveOldRuns(logdir);
  return logdir;
}

bool IsUrl(const std::string& logdir) {
  return logdir.find("://") != std::string::npos;
}

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

}  // namespace oom_forensics::collector
