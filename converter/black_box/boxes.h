// The black boxes of processes that died without a word, turned into runs.
#ifndef OOM_FORENSICS_CONVERTER_BLACK_BOX_BOXES_H_
#define OOM_FORENSICS_CONVERTER_BLACK_BOX_BOXES_H_

#include <optional>
#include <string>
#include <vector>

#include "converter/black_box/ending.h"

namespace oom_forensics {

struct OpenedBoxes {
  // Folders of the runs that were made.
  std::vector<std::string> runs;
  // A sentence for each box that was left as it is.
  std::vector<std::string> problems;
  // A sentence for each box whose process still runs.
  std::vector<std::string> in_use;
};

// Makes a run of each box that belongs to `path`, a logdir, and removes the box
// once the run is on disk. A path that is no folder has none. `status` is of
// the process that it names.
OpenedBoxes OpenBoxes(const std::string& path,
                      const std::optional<WaitStatus>& status);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_BLACK_BOX_BOXES_H_
