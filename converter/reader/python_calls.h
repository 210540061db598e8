// Which Python functions were running when a thread asked for memory, in a
// trace of TensorFlow's own profiler that records them (python_tracer_level=1,
// up to TensorFlow 2.18).
//
// An event "$train.py:16 train" is the call of a function: the name of its
// file, without folder, and the line where it begins. Calls of a thread lie
// within one another:
//
//     train.py:16 train ─────────────────────────────────────┐
//       train.py:5 augment ──────────────────┐
//         traceback_utils.py:138 error_handler ─┐    the way into TensorFlow
//           random_ops.py:211 random_uniform ─┐
//                                      MemoryAllocation
//
// What was called before TensorFlow or Keras was entered is the user's; that is
// where it shows, as no folder says whose a file is.
#ifndef OOM_FORENSICS_CONVERTER_READER_PYTHON_CALLS_H_
#define OOM_FORENSICS_CONVERTER_READER_PYTHON_CALLS_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/reader/plane_reader.h"

namespace oom_forensics {

// A Python function, as the name of an event has it. Views into the file.
struct PythonFunction {
  std::string_view file;
  std::string_view name;
  uint32_t line = 0;
  // Of TensorFlow or Keras, and what each call of theirs passes through.
  bool is_entrance = false;
};

// Nothing where the name is that of another event.
std::optional<PythonFunction> ParsePythonFunction(std::string_view event_name);

struct PythonCall {
  // Since the line's start.
  int64_t offset_ps = 0;
  int64_t duration_ps = 0;
  // Index into the functions.
  uint32_t function = 0;
};

// The calls of one thread after another, in the order of their beginnings.
class PythonCalls {
 public:
  // Both must outlive it.
  PythonCalls(const std::vector<PythonFunction>& functions,
              ReadContext* context)
      : functions_(functions), context_(*context) {}

  void Enter(const PythonCall& call);
  // The stack that runs at that time, which must not be before that of the last
  // call. kNoStack: nothing runs.
  StackIndex StackAt(int64_t offset_ps);
  // The next call is another thread's.
  void EndThread() { open_.clear(); }

 private:
  void EndCallsBefore(int64_t offset_ps);
  std::vector<StackFrame> Frames() const;

  const std::vector<PythonFunction>& functions_;
  ReadContext& context_;
  // Outermost first.
  std::vector<PythonCall> open_;
  // By the functions, outermost first.
  absl::flat_hash_map<std::vector<uint32_t>, StackIndex> stacks_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_READER_PYTHON_CALLS_H_
