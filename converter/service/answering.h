// What `serve` does whichever way its requests come in.
#ifndef OOM_FORENSICS_CONVERTER_SERVICE_ANSWERING_H_
#define OOM_FORENSICS_CONVERTER_SERVICE_ANSWERING_H_

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "converter/cancellation/cancellation.h"
#include "converter/run/run.h"
#include "converter/service/request_queue.h"

namespace oom_forensics {

// What comes in.
struct RequestInput {
  RequestQueue queue;
  // Why it ended; read it once the queue is closed and empty.
  absl::Status end;
};

// Takes one frame from the stream into the queue, a cancellation too. False:
// nothing more comes. What is not a request ends it too: where a frame is
// broken, the next one cannot be found.
bool ReadRequest(std::FILE* in, RequestInput* input);

// Opens the run while it reports progress, then answers what `next` gives until
// it gives nothing any more, or nobody listens. Returns the exit code.
int AnswerRequests(
    const std::string& path, const std::string& run_name,
    const RunOptions& options, const RequestInput& input,
    const std::function<std::optional<RequestQueue::Work>()>& next,
    const IsCancelled& is_cancelled, std::FILE* out);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_SERVICE_ANSWERING_H_
