#include "converter/service/answering.h"

#include <new>
#include <utility>

#include "converter/run/memory_budget.h"
#include "converter/service/frames.h"
#include "converter/service/replies.h"
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

}  // namespace

bool ReadRequest(std::FILE* in, RequestInput* input) {
  try {
    const auto frame = ReadFrame(in);
    if (!absl::IsOutOfRange(frame.status())) {
      auto request = frame.ok() ? ParseRequest(*frame) : frame.status();
      if (!request.ok()) {
        input->end = request.status();
      } else if (request->cancel() != 0) {
        input->queue.Cancel(request->cancel());
        return true;
      } else {
        input->queue.Push(*std::move(request));
        return true;
      }
    }
  } catch (const std::bad_alloc&) {
    input->end = NoMemoryLeft();
  }
  input->queue.Close();
  return false;
}

int AnswerRequests(
    const std::string& path, const std::string& run_name,
    const RunOptions& options, const RequestInput& input,
    const std::function<std::optional<RequestQueue::Work>()>& next,
    const IsCancelled& is_cancelled, std::FILE* out) {
  const auto run = OpenWithProgress(path, run_name, options, out);
  if (!run.ok()) return Fail(run.status(), out);
  Service service(run->get(), options, is_cancelled);
  bool heard = true;
  while (std::optional<RequestQueue::Work> work = next()) {
    if (!heard) continue;
    const ServiceReply reply =
        work->cancelled
            ? ErrorReply(work->request.id(),
                         absl::CancelledError("The work was cancelled."))
            : service.Answer(work->request);
    heard = WriteReply(reply, out).ok();
  }
  if (!input.end.ok()) return Fail(input.end, out);
  return heard ? 0 : 1;
}

}  // namespace oom_forensics
