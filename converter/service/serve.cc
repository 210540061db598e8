#include "converter/service/serve.h"

#include <memory>
#include <new>
#include <system_error>
#include <thread>

#include "converter/service/answering.h"

namespace oom_forensics {

int Serve(const std::string& path, const std::string& run_name,
          const RunOptions& options, std::FILE* in, std::FILE* out) {
  // Shared with the thread, which may wait for the next request when everything
  // else is over.
  const auto input = std::make_shared<RequestInput>();
  try {
    std::thread([in, input] {
      while (ReadRequest(in, input.get())) {
      }
    }).detach();
  } catch (const std::system_error&) {
    // There is no memory for its stack, or no thread more.
    throw std::bad_alloc();
  }
  return AnswerRequests(
      path, run_name, options, *input, [&] { return input->queue.Take(); },
      [&] { return input->queue.IsCancelled(); }, out);
}

}  // namespace oom_forensics
