#include "converter/service/service.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "converter/datasets/dataset.h"
#include "converter/input/trace_files.h"
#include "converter/render/render.h"
#include "converter/service/frames.h"
#include "google/protobuf/util/json_util.h"

namespace oom_forensics {
namespace {

// Progress below this is not worth a message.
constexpr double kProgressStep = 0.01;

absl::Status Write(const ServiceReply& reply, std::FILE* out) {
  const auto header = RenderJson(reply.header);
  if (!header.ok()) return header.status();
  absl::Status written = WriteFrame(*header, out);
  if (written.ok()) written = WriteFrame(reply.body, out);
  if (written.ok() && std::fflush(out) != 0) {
    written = absl::UnavailableError("Nobody reads the answers any more.");
  }
  return written;
}

ServiceReply ErrorReply(uint64_t id, const absl::Status& status) {
  ServiceReply reply;
  reply.header.set_id(id);
  reply.header.set_error(std::string(status.message()));
  reply.header.set_code(static_cast<int>(status.code()));
  return reply;
}

}  // namespace

absl::StatusOr<const Run*> Service::OtherRun(const std::string& path) {
  if (path.empty()) return nullptr;
  if (other_run_ != nullptr && other_path_ == path) return other_run_.get();
  const auto files = FindTraceFiles(path, "");
  if (!files.ok()) return files.status();
  auto run = Run::Open(*files, options_);
  if (!run.ok()) return run.status();
  other_run_ = *std::move(run);
  other_path_ = path;
  return other_run_.get();
}

absl::StatusOr<std::string> Service::Body(const ServiceRequest& request) {
  const auto other = OtherRun(request.other_path());
  if (!other.ok()) return other.status();
  const auto answer = AnswerQuery({run_, *other, request.query()});
  if (!answer.ok()) return answer.status();
  switch (request.format()) {
    case JSON:
      return RenderJson(**answer);
    case CSV:
      return RenderCsv(**answer,
                       FindDataset(request.query().dataset())->csv_rows);
    default:
      return RenderProtobuf(**answer);
  }
}

ServiceReply Service::Answer(std::string_view request_json) {
  ServiceRequest request;
  google::protobuf::util::JsonParseOptions options;
  // A tab may be newer than the program behind it.
  options.ignore_unknown_fields = true;
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      std::string(request_json), &request, options);
  if (!parsed.ok()) {
    return ErrorReply(0, absl::InvalidArgumentError(
                             "The request is not a ServiceRequest in JSON."));
  }
  auto body = Body(request);
  if (!body.ok()) return ErrorReply(request.id(), body.status());
  ServiceReply reply;
  reply.header.set_id(request.id());
  reply.header.set_progress(1.0);
  reply.body = *std::move(body);
  return reply;
}

int Serve(const std::string& path, const std::string& run_name,
          const RunOptions& options, std::FILE* in, std::FILE* out) {
  const auto fail = [out](const absl::Status& status) {
    const absl::Status told = Write(ErrorReply(0, status), out);
    std::fprintf(stderr, "oom-forensics: %s\n",
                 std::string(status.message()).c_str());
    if (!told.ok()) {
      std::fprintf(stderr, "oom-forensics: %s\n",
                   std::string(told.message()).c_str());
    }
    return 1;
  };
  const auto files = FindTraceFiles(path, run_name);
  if (!files.ok()) return fail(files.status());
  RunOptions with_progress = options;
  double told = 0;
  absl::Status progress_written;
  with_progress.progress = [&](double progress) {
    if (progress < told + kProgressStep || !progress_written.ok()) return;
    told = progress;
    ServiceReply reply;
    reply.header.set_partial(true);
    reply.header.set_progress(progress);
    progress_written = Write(reply, out);
  };
  const auto run = Run::Open(*files, with_progress);
  if (!run.ok()) return fail(run.status());
  Service service(run->get(), options);
  while (true) {
    const auto request = ReadFrame(in);
    if (absl::IsOutOfRange(request.status())) return 0;
    if (!request.ok()) return fail(request.status());
    const absl::Status written = Write(service.Answer(*request), out);
    if (!written.ok()) return 1;
  }
}

}  // namespace oom_forensics
