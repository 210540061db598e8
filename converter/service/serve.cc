#include "converter/service/serve.h"

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "converter/service/frames.h"
#include "converter/service/replies.h"
#include "converter/service/request_queue.h"
#include "converter/service/service.h"

namespace oom_forensics {
namespace {

int Fail(const absl::Status& status, std::FILE* out) {
  const absl::Status told = WriteReply(ErrorReply(0, status), out);
  for (const absl::Status& each : {status, told}) {
    if (each.ok()) continue;
    std::fprintf(stderr, "oom-forensics: %s\n",
                 std::string(each.message()).c_str());
  }
  return 1;
}

// What comes in. Shared with the thread that reads it, which may wait for the
// next request when everything else is over.
struct Input {
  RequestQueue queue;
  // Why it ended; read it once the queue is closed and empty.
  absl::Status end;
};

// Until the stream ends. What is not a request ends it too: where a frame is
// broken, the next one cannot be found.
void ReadRequests(std::FILE* in, Input* input) {
  while (input->end.ok()) {
    const auto frame = ReadFrame(in);
    if (absl::IsOutOfRange(frame.status())) break;
    auto request = frame.ok() ? ParseRequest(*frame) : frame.status();
    if (!request.ok()) {
      input->end = request.status();
    } else if (request->cancel() != 0) {
      input->queue.Cancel(request->cancel());
    } else {
      input->queue.Push(*std::move(request));
    }
  }
  input->queue.Close();
}

// Answers what comes until nothing comes any more, or nobody listens.
int AnswerAll(const Run* run, const RunOptions& options, RequestQueue* queue,
              std::FILE* out) {
  Service service(run, options, [queue] { return queue->IsCancelled(); });
  bool heard = true;
  while (std::optional<RequestQueue::Work> work = queue->Take()) {
    if (!heard) continue;
    const ServiceReply reply =
        work->cancelled
            ? ErrorReply(work->request.id(),
                         absl::CancelledError("The work was cancelled."))
            : service.Answer(work->request);
    heard = WriteReply(reply, out).ok();
  }
  return heard ? 0 : 1;
}

}  // namespace

int Serve(const std::string& path, const std::string& run_name,
          const RunOptions& options, std::FILE* in, std::FILE* out) {
  const auto input = std::make_shared<Input>();
  std::thread([in, input] { ReadRequests(in, input.get()); }).detach();
  const auto run = OpenWithProgress(path, run_name, options, out);
  if (!run.ok()) return Fail(run.status(), out);
  const int code = AnswerAll(run->get(), options, &input->queue, out);
  return input->end.ok() ? code : Fail(input->end, out);
}

}  // namespace oom_forensics
