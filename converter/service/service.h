// `serve`: answers requests on a stream, by proto/service.proto. Knows nothing
// of HTTP; one process serves one run.
#ifndef OOM_FORENSICS_CONVERTER_SERVICE_SERVICE_H_
#define OOM_FORENSICS_CONVERTER_SERVICE_SERVICE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "proto/service.pb.h"

namespace oom_forensics {

// An answer: its header, and the body in the format that was asked for.
struct ServiceReply {
  ServiceResponse header;
  std::string body;
};

class Service {
 public:
  // `run` must outlive the service. `options` are for other runs that COMPARE
  // asks for.
  Service(const Run* run, const RunOptions& options)
      : run_(*run), options_(options) {}

  // Answers one request frame. Never fails: what went wrong is in the header.
  ServiceReply Answer(std::string_view request_json);

 private:
  absl::StatusOr<std::string> Body(const ServiceRequest& request);
  absl::StatusOr<const Run*> OtherRun(const std::string& path);

  const Run& run_;
  RunOptions options_;
  std::string other_path_;
  std::unique_ptr<Run> other_run_;
};

// Opens the run while it reports progress, then answers until `in` ends.
// Returns the exit code. What keeps the run from being read is told in one
// response and on standard error.
int Serve(const std::string& path, const std::string& run_name,
          const RunOptions& options, std::FILE* in, std::FILE* out);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SERVICE_SERVICE_H_
