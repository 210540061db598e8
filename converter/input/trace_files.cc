#include "converter/input/trace_files.h"

#include <algorithm>
#include <filesystem>
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
  fs::file_time_type newest;
  std::vector<std::string> paths;
};

bool IsTraceFile(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.is_regular_file(error) &&
         EndsWith(entry.path().filename().native(), kSuffix);
}

std::vector<std::string> TracesIn(const fs::path& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (IsTraceFile(*it)) paths.push_back(it->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// "train/2026_11_20" of "<logdir>/train/plugins/profile/2026_11_20".
std::string RunName(const fs::path& logdir, const fs::path& folder) {
  const fs::path relative = folder.lexically_relative(logdir);
  const fs::path profile = relative.parent_path();
  const fs::path prefix = profile.parent_path().parent_path();
  const std::string name = folder.filename().string();
  return prefix.empty() ? name : (prefix / name).string();
}

std::vector<FoundRun> RunsBelow(const fs::path& logdir) {
  std::vector<FoundRun> runs;
  std::error_code error;
  size_t entries = 0;
  fs::recursive_directory_iterator it(
      logdir, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    if (++entries > kMaxEntries) break;
    if (it.depth() >= kMaxDepth) it.disable_recursion_pending();
    std::error_code ignored;
    if (!it->is_directory(ignored)) continue;
    const fs::path& folder = it->path();
    const fs::path profile = folder.parent_path();
    if (profile.filename() != "profile" ||
        profile.parent_path().filename() != "plugins") {
      continue;
    }
    it.disable_recursion_pending();
    FoundRun run{RunName(logdir, folder), {}, TracesIn(folder)};
    if (run.paths.empty()) continue;
    for (const std::string& path : run.paths) {
      const auto written = fs::last_write_time(path, ignored);
      if (!ignored) run.newest = std::max(run.newest, written);
    }
    runs.push_back(std::move(run));
  }
  std::sort(runs.begin(), runs.end(), [](const FoundRun& a, const FoundRun& b) {
    return std::pair(a.newest, a.name) > std::pair(b.newest, b.name);
  });
  return runs;
}

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
  std::vector<std::string> own = TracesIn(folder);
  if (!own.empty() && run.empty()) {
    const fs::path named =
        folder.has_filename() ? folder : folder.parent_path();
    return TraceFiles{named.filename().string(), std::move(own)};
  }
  std::vector<FoundRun> runs = RunsBelow(folder);
  if (runs.empty()) {
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
