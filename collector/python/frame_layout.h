// FrameLayout: where CPython keeps, in its memory, what a thread is running.
//
//   thread state ─▶ top frame ─▶ previous frame ─▶ …
//                      ├▶ code object: file, function, line table
//                      └▶ the instruction that is being executed
//
// None of it is a stable interface. A layout is therefore only proposed here;
// StackTaker proves it against what Python itself says before it is used.
#ifndef OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_LAYOUT_H_
#define OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace oom_forensics::collector::python {

// How a code object maps its instructions to lines.
enum class LineTableFormat : uint8_t {
  // 3.10: pairs of signed bytes (Objects/lnotab_notes.txt).
  kPairs,
  // From 3.11: entries of variable length (Objects/locations.md).
  kLocations,
};

// Offsets in bytes from the beginning of the object that the name tells first.
struct FrameLayout {
  uint32_t thread_frame = 0;
  // 3.11, 3.12: a record lies between, and this is the frame's offset in it.
  bool has_cframe = false;
  uint32_t cframe_frame = 0;

  uint32_t frame_code = 0;
  uint32_t frame_previous = 0;
  uint32_t frame_instruction = 0;
  // 3.10: the instruction is an index, of two bytes each; else a pointer into
  // the code object, whose instructions begin at `code_instructions`.
  bool instruction_is_index = false;
  uint32_t code_instructions = 0;
  // From 3.12: a frame whose owner is kOwnedByInterpreter belongs to no code.
  bool has_owner = false;
  uint32_t frame_owner = 0;

  uint32_t code_file = 0;
  uint32_t code_name = 0;
  uint32_t code_line_table = 0;
  uint32_t code_first_line = 0;
  LineTableFormat line_table = LineTableFormat::kLocations;
  // From 3.12: a number that no other code object of the process has had. 0:
  // there is none, and code objects are told apart by their contents.
  uint32_t code_version = 0;

  // The characters of a str that is ASCII, and of another one.
  uint32_t ascii_text = 0;
  uint32_t other_text = 0;
};

inline constexpr uint8_t kOwnedByInterpreter = 3;

// The layout of a Python of this version (sys.hexversion); none, and a sentence
// in `why`, where it is not known. `runtime` is the address of _PyRuntime,
// which tells most of it from 3.13 on; null: it is not exported.
std::optional<FrameLayout> LayoutOf(uint32_t hexversion, const void* runtime,
                                    std::string* why);

}  // namespace oom_forensics::collector::python

#endif  // OOM_FORENSICS_COLLECTOR_PYTHON_FRAME_LAYOUT_H_
