#include "converter/input/trace_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".xplane.pb";
// Folders below a logdir that are looked at; a logdir on a whole disk must not
// take minutes.
constexpr int kMaxDepth = 12;
constexpr size_t kMaxEntries = 1'000'000;
constexpr size_t kListedRuns = 10;

struct FoundRun {
  std::string name;
  // Its clock's zero may lie in the future.
  fs::file_time_type newest = fs::file_time_type::min();
  std::vector<std::string> paths;
};

bool IsTraceFile(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_regular_file(error) &&
         EndsWith(entry.path().filename().native(), kSuffix);
}

// `error` is why there may be more.
std::vector<std::string> TracesIn(const fs::path& folder,
                                  std::error_code& error) {
  std::vector<std::string> paths;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (IsTraceFile(*it)) paths.push_back(it->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

absl::Status CannotRead(const fs::path& folder, const std::error_code& error) {
  return absl::NotFoundError(absl::StrCat("Cannot read ", folder.string(), ": ",
                                          error.message(), "."));
}

// "train/2026_11_20" of "<logdir>/train/plugins/profile/2026_11_20".
std::string RunName(const fs::path& logdir, const fs::path& folder) {
  const fs::path relative = folder.lexically_relative(logdir);
  const fs::path profile = relative.parent_path();
  const fs::path prefix = profile.parent_path().parent_path();
  const std::string name = folder.filename().string();
  return prefix.empty() ? name : (prefix / name).string();
}

// Finds the runs below a logdir as the tab does
// (plugin/oom_forensics/logdir/runs.py): links are followed, each folder is
// looked at once, by the first of its names.
class RunSearch {
 public:
  explicit RunSearch(fs::path logdir) : logdir_(std::move(logdir)) {
    LookInto(logdir_, 0);
  }

  std::vector<FoundRun> TakeNewestFirst() {
    std::sort(
        runs_.begin(), runs_.end(), [](const FoundRun& a, const FoundRun& b) {
          return a.newest != b.newest ? a.newest > b.newest : a.name < b.name;
        });
    return std::move(runs_);
  }

  // Why runs may be missing: the first folder that could not be read.
  const absl::Status& unreadable() const { return unreadable_; }

 private:
  // True the first time.
  bool IsNew(const fs::path& folder) {
    struct stat status;
    return stat(folder.c_str(), &status) == 0 &&
           seen_.emplace(status.st_dev, status.st_ino).second;
  }

  std::vector<fs::path> FoldersIn(const fs::path& folder) {
    std::vector<fs::path> folders;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code ignored;
      if (++entries_ > kMaxEntries) break;
      if (it->is_directory(ignored)) folders.push_back(it->path());
    }
    // That a folder of plugins has none of profiles is nothing.
    if (error && error != std::errc::no_such_file_or_directory &&
        error != std::errc::not_a_directory && unreadable_.ok()) {
      unreadable_ = CannotRead(folder, error);
    }
    std::sort(folders.begin(), folders.end());
    return folders;
  }

  void LookInto(const fs::path& folder, int depth) {
    if (depth > kMaxDepth || !IsNew(folder)) return;
    const bool is_plugins = folder.filename() == "plugins";
    if (is_plugins || folder.parent_path().filename() == "plugins") {
      // What else lies below a plugin's folder is that plugin's own.
      const fs::path profile = is_plugins ? folder / "profile" : folder;
      for (const fs::path& run : FoldersIn(profile)) Add(run);
      return;
    }
    for (const fs::path& inner : FoldersIn(folder)) LookInto(inner, depth + 1);
  }

  void Add(const fs::path& folder) {
    FoundRun run;
    run.name = RunName(logdir_, folder);
    std::error_code ignored;
    run.paths = TracesIn(folder, ignored);
    if (run.paths.empty()) return;
    for (const std::string& path : run.paths) {
      std::error_code error;
      const auto written = fs::last_write_time(path, error);
      if (!error) run.newest = std::max(run.newest, written);
    }
    runs_.push_back(std::move(run));
  }

  const fs::path logdir_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  size_t entries_ = 0;
  absl::Status unreadable_;
  std::vector<FoundRun> runs_;
};

absl::Status NoSuchRun(const std::string& path, const std::string& run,
                       const std::vector<FoundRun>& runs) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(runs.size(), kListedRuns); ++i) {
    names.push_back(runs[i].name);
  }
  return absl::NotFoundError(
      absl::StrCat("There is no run ", run, " in ", path,
                   "; there are: ", absl::StrJoin(names, ", "), "."));
}

}  // namespace

absl::StatusOr<TraceFiles> FindTraceFiles(const std::string& path,
                                          const std::string& run) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (error || !fs::exists(status)) {
    return absl::NotFoundError(absl::StrCat("There is no file ", path, "."));
  }
  if (!fs::is_directory(status)) {
    return TraceFiles{fs::path(path).filename().string(), {path}};
  }
  const fs::path folder = fs::path(path).lexically_normal();
  std::vector<std::string> own = TracesIn(folder, error);
  if (error) return CannotRead(path, error);
  if (!own.empty() && run.empty()) {
    const fs::path named =
        folder.has_filename() ? folder : folder.parent_path();
    return TraceFiles{named.filename().string(), std::move(own)};
  }
  RunSearch search(folder);
  std::vector<FoundRun> runs = search.TakeNewestFirst();
  if (runs.empty()) {
    if (!search.unreadable().ok()) return search.unreadable();
    return absl::NotFoundError(absl::StrCat(
        "There is no *", std::string(kSuffix), " in ", path,
        ", nor in plugins/profile/<run>/ below it: record one with "
        "tf.profiler.experimental.Profile('",
        path, "')."));
  }
  for (FoundRun& found : runs) {
    if (run.empty() || found.name == run) {
      return TraceFiles{std::move(found.name), std::move(found.paths)};
    }
  }
  return NoSuchRun(path, run, runs);
}

std::string HostOfFile(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  if (EndsWith(name, kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

}  // namespace oom_forensics
