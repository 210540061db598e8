#include "converter/service/service.h"

#include <algorithm>
#include <new>
#include <utility>

#include "converter/datasets/dataset.h"
#include "converter/input/trace_files.h"
#include "converter/render/render.h"
#include "converter/run/memory_budget.h"
#include "google/protobuf/util/json_util.h"

namespace oom_forensics {
namespace {

template <typename Message>
absl::StatusOr<Message> ParseJson(const std::string& json,
                                  const std::string& what_is_wrong) {
  Message message;
  google::protobuf::util::JsonParseOptions options;
  // A tab may be newer than the program that answers it.
  options.ignore_unknown_fields = true;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(json, &message, options);
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(what_is_wrong);
  }
  return message;
}

}  // namespace

ServiceReply ErrorReply(uint64_t id, const absl::Status& status) {
  ServiceReply reply;
  reply.header.set_id(id);
  reply.header.set_error(std::string(status.message()));
  reply.header.set_code(static_cast<int>(status.code()));
  return reply;
}

absl::StatusOr<ServiceRequest> ParseRequest(std::string_view request_json) {
  return ParseJson<ServiceRequest>(
      std::string(request_json),
      "The request is not a ServiceRequest in JSON.");
}

absl::StatusOr<const Run*> Service::OtherRun(const ServiceRequest& request) {
  if (request.other_path().empty()) return nullptr;
  if (other_run_ != nullptr && other_path_ == request.other_path() &&
      other_version_ == request.other_version()) {
    return other_run_.get();
  }
  // First of all: two others would not fit beside the first.
  other_run_ = nullptr;
  const auto files = FindTraceFiles(request.other_path(), "");
  if (!files.ok()) return files.status();
  RunOptions options = options_;
  if (options.read.max_resident_bytes > 0) {
    const uint64_t left_bytes =
        options.read.max_resident_bytes -
        std::min(options.read.max_resident_bytes, run_.ResidentBytes());
    // 0 would mean: no limit.
    options.read.max_resident_bytes = std::max<uint64_t>(left_bytes, 1);
  }
  auto run = Run::Open(*files, options);
  if (!run.ok()) return run.status();
  other_run_ = *std::move(run);
  other_path_ = request.other_path();
  other_version_ = request.other_version();
  return other_run_.get();
}

absl::StatusOr<std::string> Service::Body(const ServiceRequest& request) {
  const auto query =
      ParseJson<Query>(request.query(), "The query is not a Query in JSON.");
  if (!query.ok()) return query.status();
  const auto other = OtherRun(request);
  if (!other.ok()) return other.status();
  const auto answer = AnswerQuery({run_, *other, *query});
  if (!answer.ok()) return answer.status();
  switch (request.format()) {
    case JSON:
      return RenderJson(**answer);
    case CSV:
      return RenderCsv(**answer, FindDataset(query->dataset())->csv_rows);
    default:
      return RenderProtobuf(**answer);
  }
}

ServiceReply Service::Answer(const ServiceRequest& request) {
  const CancellableWork work(is_cancelled_);
  absl::StatusOr<std::string> body;
  try {
    body = Body(request);
  } catch (const WorkCancelled& cancelled) {
    body = absl::CancelledError(cancelled.what());
  } catch (const std::bad_alloc&) {
    body = NoMemoryLeft();
  }
  if (!body.ok()) return ErrorReply(request.id(), body.status());
  ServiceReply reply;
  reply.header.set_id(request.id());
  reply.header.set_progress(1.0);
  reply.body = *std::move(body);
  return reply;
}

}  // namespace oom_forensics
