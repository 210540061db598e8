#include "converter/command/page.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/exports/html/frontend_files.h"
#include "converter/exports/html/offline_page.h"
#include "converter/input/trace_files.h"

namespace oom_forensics {
namespace {

absl::StatusOr<TraceFiles> OnlyHost(TraceFiles files, const std::string& host) {
  if (host.empty()) return files;
  std::vector<std::string>& paths = files.paths;
  paths.erase(std::remove_if(paths.begin(), paths.end(),
                             [&](const std::string& path) {
                               return HostOfFile(path) != host;
                             }),
              paths.end());
  if (!paths.empty()) return files;
  return absl::NotFoundError(
      absl::StrCat("There is no host ", host, " in this run."));
}

}  // namespace

absl::StatusOr<std::string> MakePage(const Options& options) {
  const auto frontend = ReadFrontendFiles(options.frontend_dir);
  if (!frontend.ok()) return frontend.status();
  auto found = FindTraceFiles(options.path, options.run);
  if (!found.ok()) return found.status();
  auto files = OnlyHost(*std::move(found), options.query.filter().host());
  if (!files.ok()) return files.status();
  OfflinePage page;
  page.title = absl::StrCat("OOM Forensics – ", files->run_name);
  page.allow_truncated = options.allow_truncated;
  page.runs.push_back(*std::move(files));
  if (!options.other_path.empty()) {
    auto other = FindTraceFiles(options.other_path, options.other_run);
    if (!other.ok()) return other.status();
    // Runs are told apart by their names.
    if (other->run_name == page.runs.front().run_name) {
      absl::StrAppend(&other->run_name, " (other)");
    }
    page.runs.push_back(*std::move(other));
  }
  return RenderOfflinePage(page, *frontend);
}

std::string PageSizeText(size_t size_bytes, const Options& options) {
  // As mail servers count. A mail carries a file as base64.
  constexpr double kMegabyte = 1e6;
  constexpr double kInMail = 4.0 / 3;
  const double megabytes = static_cast<double>(size_bytes) / kMegabyte;
  std::string text = absl::StrFormat("%.1f MB", megabytes);
  if (options.command == "viewer") return text + ".";
  text += options.query.filter().host().empty() ? ", nothing was left out"
                                                : ", other hosts were left out";
  // The limits that are common.
  if (megabytes * kInMail > 25) {
    text +=
        "; too large for most mail: --host=NAME keeps one host of a run, and a "
        "shorter profile is smaller";
  } else if (megabytes * kInMail > 10) {
    text += "; too large for mail servers that take 10 MB";
  }
  return text + ".";
}

absl::StatusOr<std::string> MakeViewer(const Options& options) {
  const auto frontend = ReadFrontendFiles(options.frontend_dir);
  if (!frontend.ok()) return frontend.status();
  return RenderOfflinePage({"OOM Forensics viewer", {}, false}, *frontend);
}

}  // namespace oom_forensics
