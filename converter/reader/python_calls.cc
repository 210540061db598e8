#include "converter/reader/python_calls.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// More of one thread, or of one trace, are damage.
constexpr size_t kMaxDepth = 256;
constexpr size_t kMaxStacks = size_t{1} << 16;
// Above the ids of all stacks that planes of ours record.
constexpr uint64_t kFirstId = uint64_t{1} << 62;

// Functions of the user's go through one of these into TensorFlow or Keras.
constexpr std::string_view kEntrances[] = {"traceback_utils.py", "dispatch.py",
                                           "weak_tensor_ops.py", "backprop.py"};

}  // namespace

std::optional<PythonFunction> ParsePythonFunction(std::string_view event_name) {
  constexpr std::string_view kSuffix = ".py";
  if (event_name.empty() || event_name.front() != '$') return std::nullopt;
  event_name.remove_prefix(1);
  const size_t space = event_name.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view place = event_name.substr(0, space);
  const size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  PythonFunction function;
  function.file = place.substr(0, colon);
  function.name = event_name.substr(space + 1);
  if (!EndsWith(function.file, kSuffix) ||
      !absl::SimpleAtoi(Absl(place.substr(colon + 1)), &function.line)) {
    return std::nullopt;
  }
  function.is_entrance = std::find(std::begin(kEntrances), std::end(kEntrances),
                                   function.file) != std::end(kEntrances);
  return function;
}

void PythonCalls::Enter(const PythonCall& call) {
  EndCallsBefore(call.offset_ps);
  if (open_.size() < kMaxDepth) open_.push_back(call);
}

StackIndex PythonCalls::StackAt(int64_t offset_ps) {
  EndCallsBefore(offset_ps);
  if (open_.empty()) return kNoStack;
  std::vector<uint32_t> key;
  key.reserve(open_.size());
  for (const PythonCall& call : open_) key.push_back(call.function);
  const auto known = stacks_.find(key);
  if (known != stacks_.end()) return known->second;
  if (stacks_.size() == kMaxStacks) return kNoStack;
  SourceTable& source = context_.trace().source;
  const uint64_t id = kFirstId + stacks_.size();
  source.AddStack(id, Frames());
  return stacks_[std::move(key)] = source.StackOf(id);
}

void PythonCalls::EndCallsBefore(int64_t offset_ps) {
  const auto has_ended = [offset_ps](const PythonCall& call) {
    return ReadContext::TimePs(call.offset_ps, call.duration_ps) < offset_ps;
  };
  while (!open_.empty() && has_ended(open_.back())) open_.pop_back();
}

std::vector<StackFrame> PythonCalls::Frames() const {
  std::vector<StackFrame> frames;
  bool is_library = false;
  for (const PythonCall& call : open_) {
    const PythonFunction& function = functions_[call.function];
    is_library = is_library || function.is_entrance;
    CodeLine line;
    line.file = context_.Intern(function.file);
    line.function = context_.Intern(function.name);
    line.line = function.line;
    frames.push_back({context_.trace().source.InternLine(line), is_library});
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace oom_forensics
