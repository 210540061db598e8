#include "converter/trace/source_table.h"

namespace oom_forensics {

LineId SourceTable::InternLine(const CodeLine& line) {
  const auto [entry, is_new] =
      line_ids_.try_emplace(line, static_cast<LineId>(lines_.size()));
  if (is_new) lines_.push_back(line);
  return entry->second;
}

void SourceTable::AddStack(uint64_t recorded_id,
                           std::vector<StackFrame> frames) {
  const auto index = static_cast<StackIndex>(stacks_.size());
  if (!stack_of_id_.try_emplace(recorded_id, index).second) return;
  RecordedStack stack;
  stack.frames = std::move(frames);
  for (const StackFrame& frame : stack.frames) {
    if (frame.is_library) continue;
    stack.user_line = frame.line;
    break;
  }
  stacks_.push_back(std::move(stack));
}

StackIndex SourceTable::StackOf(uint64_t recorded_id) const {
  const auto found = stack_of_id_.find(recorded_id);
  return found == stack_of_id_.end() ? kNoStack : found->second;
}

const OpSource* SourceTable::OpOf(StringId op) const {
  const auto found = ops_.find(op);
  return found == ops_.end() ? nullptr : &found->second;
}

StringId SourceTable::TextOf(const CodeLine& line) const {
  const auto found = texts_.find({line.file, line.line});
  return found == texts_.end() ? kEmptyString : found->second;
}

}  // namespace oom_forensics
