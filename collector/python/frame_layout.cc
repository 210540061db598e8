#include "collector/python/frame_layout.h"

#include <cstring>

namespace oom_forensics::collector::python {
namespace {

FrameLayout Python310() {
  FrameLayout layout;
  layout.thread_frame = 24;
  layout.frame_code = 32;
  layout.frame_previous = 24;
  layout.frame_instruction = 96;
  layout.instruction_is_index = true;
  layout.code_file = 104;
  layout.code_name = 112;
  layout.code_line_table = 120;
  layout.code_first_line = 40;
  layout.line_table = LineTableFormat::kPairs;
  layout.ascii_text = 48;
  layout.other_text = 72;
  return layout;
}

FrameLayout Python311() {
  FrameLayout layout;
  layout.thread_frame = 56;
  layout.has_cframe = true;
  layout.cframe_frame = 8;
  layout.frame_code = 32;
  layout.frame_previous = 48;
  layout.frame_instruction = 56;
  layout.code_instructions = 184;
  layout.code_file = 112;
  layout.code_name = 120;
  layout.code_line_table = 136;
  layout.code_first_line = 72;
  layout.ascii_text = 48;
  layout.other_text = 72;
  return layout;
}

FrameLayout Python312() {
  FrameLayout layout = Python311();
  layout.cframe_frame = 0;
  layout.frame_code = 0;
  layout.frame_previous = 8;
  layout.code_instructions = 192;
  layout.has_owner = true;
  layout.frame_owner = 70;
  layout.code_first_line = 68;
  layout.code_version = 92;
  layout.ascii_text = 40;
  layout.other_text = 56;
  return layout;
}

// What is read of _Py_DebugOffsets of 3.13 (Include/internal/pycore_runtime.h):
// the place of each number, counted in numbers of 64 bits.
enum DebugOffset {
  kFreeThreaded = 2,
  kThreadFrame = 23,
  kFramePrevious = 29,
  kFrameExecutable = 30,
  kFrameInstruction = 31,
  kFrameOwner = 33,
  kCodeFile = 35,
  kCodeName = 36,
  kCodeLineTable = 38,
  kCodeFirstLine = 39,
  kCodeInstructions = 43,
};

std::optional<FrameLayout> Python313(const void* runtime, std::string* why) {
  if (runtime == nullptr || std::memcmp(runtime, "xdebugpy", 8) != 0) {
    *why = "this Python does not say how its frames lie in memory";
    return std::nullopt;
  }
  const auto* offsets = static_cast<const uint64_t*>(runtime);
  if (offsets[kFreeThreaded] != 0) {
    *why = "this Python runs without its global lock (free-threaded)";
    return std::nullopt;
  }
  const auto at = [&](DebugOffset which) {
    return static_cast<uint32_t>(offsets[which]);
  };
  FrameLayout layout = Python312();
  layout.has_cframe = false;
  layout.thread_frame = at(kThreadFrame);
  layout.frame_code = at(kFrameExecutable);
  layout.frame_previous = at(kFramePrevious);
  layout.frame_instruction = at(kFrameInstruction);
  layout.frame_owner = at(kFrameOwner);
  layout.code_file = at(kCodeFile);
  layout.code_name = at(kCodeName);
  layout.code_line_table = at(kCodeLineTable);
  layout.code_first_line = at(kCodeFirstLine);
  layout.code_instructions = at(kCodeInstructions);
  return layout;
}

}  // namespace

std::optional<FrameLayout> LayoutOf(uint32_t hexversion, const void* runtime,
                                    std::string* why) {
  switch (hexversion >> 16) {
    case 0x030a:
      return Python310();
    case 0x030b:
      return Python311();
    case 0x030c:
      return Python312();
    case 0x030d:
      return Python313(runtime, why);
    default:
      *why = "the frames of Python " + std::to_string(hexversion >> 24) + "." +
             std::to_string(hexversion >> 16 & 0xff) + " are not known";
      return std::nullopt;
  }
}

}  // namespace oom_forensics::collector::python
