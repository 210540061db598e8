#include "converter/service/replies.h"

#include "converter/input/trace_files.h"
#include "converter/render/render.h"
#include "converter/service/frames.h"

namespace oom_forensics {
namespace {

// Progress below this is not worth a message.
constexpr double kProgressStep = 0.01;

}  // namespace

absl::Status WriteReply(const ServiceReply& reply, std::FILE* out) {
  const auto header = RenderJson(reply.header);
  if (!header.ok()) return header.status();
  absl::Status written = WriteFrame(*header, out);
  if (written.ok()) written = WriteFrame(reply.body, out);
  if (written.ok() && std::fflush(out) != 0) {
    written = absl::UnavailableError("Nobody reads the answers any more.");
  }
  return written;
}

absl::StatusOr<std::unique_ptr<Run>> OpenWithProgress(
    const std::string& path, const std::string& run_name,
    const RunOptions& options, std::FILE* out) {
  const auto files = FindTraceFiles(path, run_name);
  if (!files.ok()) return files.status();
  RunOptions with_progress = options;
  double told = 0;
  absl::Status progress_written;
  with_progress.progress = [&](double progress) {
    if (progress < told + kProgressStep || !progress_written.ok()) return;
    told = progress;
    ServiceReply reply;
    reply.header.set_partial(true);
    reply.header.set_progress(progress);
    progress_written = WriteReply(reply, out);
  };
  return Run::Open(*files, with_progress);
}

}  // namespace oom_forensics
