#include "collector/diagnostics.h"

#include <unistd.h>

#include <string>

namespace oom_forensics::collector {

void Say(std::string_view sentence) {
  std::string line = "OOM Forensics: ";
  line += sentence;
  line += '\n';
  // Nothing can be done about a closed stderr.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace oom_forensics::collector
