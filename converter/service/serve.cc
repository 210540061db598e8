#include "converter/service/serve.h"

#include <memory>
#include <thread>

#include "converter/service/answering.h"

namespace oom_forensics {

int Serve(const std::string& path, const std::string& run_name,
          const RunOptions& options, std::FILE* in, std::FILE* out) {
  // Shared with the thread, which may wait for the next request when everything
  // else is over.
  const auto input = std::make_shared<RequestInput>();
  std::thread([in, input] {
    while (ReadRequest(in, input.get())) {
    }
  }).detach();
  return AnswerRequests(
      path, run_name, options, *input, [&] { return input->queue.Take(); },
      [&] { return input->queue.IsCancelled(); }, out);
}

}  // namespace oom_forensics
