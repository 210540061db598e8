#include "collector/flight_recorder/user_line.h"

#include "collector/trace/line_text.h"

namespace oom_forensics::collector {

std::string UserLine(const SourceFacts& facts,
                     const std::vector<const StackFrames*>& stacks,
                     StackId stack) {
  if (stack == 0 || stack > stacks.size()) return "";
  for (const StackFrame& frame : *stacks[stack - 1]) {
    if (frame.is_library) continue;
    const std::string path(ShownPath(facts, frame.file));
    std::string line = path.empty() ? "line " : path + ":";
    line += std::to_string(frame.line);
    if (frame.function != "<module>") {
      line += " in " + std::string(frame.function);
    }
    if (facts.paths == "none") return line;
    const auto texts = TextsOfLines(frame.file, {frame.line});
    return texts.empty() ? line : line + ": " + texts.begin()->second;
  }
  return "";
}

}  // namespace oom_forensics::collector
