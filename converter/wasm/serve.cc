// `serve` where there is one thread: what comes in is looked at between two
// requests, and now and then while one is worked on.
#include "converter/service/serve.h"

#include <optional>

#include "converter/service/answering.h"
#include "converter/wasm/host_files.h"

namespace oom_forensics {

int Serve(const std::string& path, const std::string& run_name,
          const RunOptions& options, std::FILE* in, std::FILE* out) {
  // What the C library had read ahead the host would not tell of.
  std::setvbuf(in, nullptr, _IONBF, 0);
  RequestInput input;
  bool more = true;
  const auto take_what_is_there = [&] {
    while (more && HostHasInput()) more = ReadRequest(in, &input);
  };
  const auto next = [&]() -> std::optional<RequestQueue::Work> {
    take_what_is_there();
    while (more && input.queue.IsWaiting()) more = ReadRequest(in, &input);
    // What came with it may cancel it.
    take_what_is_there();
    return input.queue.Take();
  };
  const auto is_cancelled = [&] {
    take_what_is_there();
    return input.queue.IsCancelled();
  };
  return AnswerRequests(path, run_name, options, input, next, is_cancelled,
                        out);
}

}  // namespace oom_forensics
