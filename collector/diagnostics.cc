#include "collector/diagnostics.h"

#include <sys/uio.h>
#include <unistd.h>

namespace oom_forensics::collector {
namespace {

iovec Part(std::string_view text) {
  return {const_cast<char*>(text.data()), text.size()};
}

}  // namespace

void Say(std::string_view sentence) noexcept {
  const iovec line[] = {Part("OOM Forensics: "), Part(sentence), Part("\n")};
  // Nothing can be done about a closed stderr.
  [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, line, 3);
}

}  // namespace oom_forensics::collector
