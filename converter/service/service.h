// Answers requests about one run, by proto/service.proto. Knows nothing of
// streams, threads or HTTP: serve.h has them.
#ifndef OOM_FORENSICS_CONVERTER_SERVICE_SERVICE_H_
#define OOM_FORENSICS_CONVERTER_SERVICE_SERVICE_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "converter/cancellation/cancellation.h"
#include "converter/run/run.h"
#include "proto/service.pb.h"

namespace oom_forensics {

// An answer: its header, and the body in the format that was asked for.
struct ServiceReply {
  ServiceResponse header;
  std::string body;
};

// The answer that says what went wrong; `id` 0: with the run as a whole.
ServiceReply ErrorReply(uint64_t id, const absl::Status& status);

// The request of a frame; what its query holds is for Service::Answer to read.
absl::StatusOr<ServiceRequest> ParseRequest(std::string_view request_json);

class Service {
 public:
  // `run` must outlive the service. `options` are for other runs that COMPARE
  // asks for: they take what the first run leaves of its limit of memory.
  // `is_cancelled` says whether the request in hand is wanted no more; it is
  // then cut off.
  Service(const Run* run, const RunOptions& options,
          IsCancelled is_cancelled = nullptr)
      : run_(*run), options_(options), is_cancelled_(std::move(is_cancelled)) {}

  // Answers one request. Never fails: what went wrong is in the header.
  ServiceReply Answer(const ServiceRequest& request);

 private:
  absl::StatusOr<std::string> Body(const ServiceRequest& request);
  absl::StatusOr<const Run*> OtherRun(const ServiceRequest& request);

  const Run& run_;
  RunOptions options_;
  const IsCancelled is_cancelled_;
  std::string other_path_;
  std::string other_version_;
  std::unique_ptr<Run> other_run_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SERVICE_SERVICE_H_
