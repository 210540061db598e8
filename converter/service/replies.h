// Replies on a stream, by proto/service.proto.
#ifndef OOM_FORENSICS_CONVERTER_SERVICE_REPLIES_H_
#define OOM_FORENSICS_CONVERTER_SERVICE_REPLIES_H_

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "converter/run/run.h"
#include "converter/service/service.h"

namespace oom_forensics {

// Writes header and body, and flushes.
absl::Status WriteReply(const ServiceReply& reply, std::FILE* out);

// Opens the run of a path and writes of its progress to `out`. What keeps the
// run from being read is for the caller to tell.
absl::StatusOr<std::unique_ptr<Run>> OpenWithProgress(
    const std::string& path, const std::string& run_name,
    const RunOptions& options, std::FILE* out);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SERVICE_REPLIES_H_
