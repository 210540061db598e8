// WebAssembly knows no locks on files, and so not whether a process lives.
#include "converter/black_box/boxes.h"

namespace oom_forensics {

OpenedBoxes OpenBoxes(const std::string&, const std::optional<WaitStatus>&) {
  return {};
}

}  // namespace oom_forensics
