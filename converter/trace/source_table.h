// SourceTable: where in the user's program things were done, as far as it is
// recorded: the Python stacks of eager ops, the lines of a graph's ops and of
// the Keras objects that made them, the text of lines, and who keeps what.
#ifndef OOM_FORENSICS_CONVERTER_TRACE_SOURCE_TABLE_H_
#define OOM_FORENSICS_CONVERTER_TRACE_SOURCE_TABLE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "converter/trace/string_table.h"

namespace oom_forensics {

// A line of a function, each once. Texts are of the host's StringTable.
struct CodeLine {
  StringId file = kEmptyString;
  StringId function = kEmptyString;
  // 0: not known.
  uint32_t line = 0;

  friend bool operator==(const CodeLine& a, const CodeLine& b) {
    return a.file == b.file && a.function == b.function && a.line == b.line;
  }
  template <typename H>
  friend H AbslHashValue(H h, const CodeLine& l) {
    return H::combine(std::move(h), l.file, l.function, l.line);
  }
};

// Index of a line in its table; kNoLine: not recorded.
using LineId = uint32_t;
inline constexpr LineId kNoLine = 0;

// Index of a stack in its table; kNoStack: not recorded.
using StackIndex = uint32_t;
inline constexpr StackIndex kNoStack = 0;

struct StackFrame {
  LineId line = kNoLine;
  // Of Python's library or an installed package.
  bool is_library = false;
};

struct RecordedStack {
  // Innermost first.
  std::vector<StackFrame> frames;
  // The innermost frame of the user's code; kNoLine: there is none.
  LineId user_line = kNoLine;
};

// The source lines of an op of a graph.
struct OpSource {
  // Where it was called, and where the Keras object was made that it is of.
  StackIndex called = kNoStack;
  StackIndex made_at = kNoStack;
  // "Conv2D conv2d_1"
  StringId object = kEmptyString;
  // That is an optimizer.
  bool of_optimizer = false;
};

// What keeps live allocations from being freed.
struct RecordedKeeper {
  // Sorted.
  std::vector<uint64_t> addresses;
  uint64_t bytes = 0;
  // From the root to the tensor.
  std::vector<std::string> chain;
  StackIndex stack = kNoStack;
};

class SourceTable {
 public:
  SourceTable() : lines_(1), stacks_(1) {}

  LineId InternLine(const CodeLine& line);
  const CodeLine& LineAt(LineId id) const { return lines_[id]; }
  size_t line_count() const { return lines_.size(); }

  // The first of an id counts.
  void AddStack(uint64_t recorded_id, std::vector<StackFrame> frames);
  // kNoStack for an id that was not recorded.
  StackIndex StackOf(uint64_t recorded_id) const;
  const RecordedStack& StackAt(StackIndex index) const {
    return stacks_[index];
  }

  void AddOp(StringId op, const OpSource& source) {
    ops_.try_emplace(op, source);
  }
  // Null where nothing is recorded of the op.
  const OpSource* OpOf(StringId op) const;

  // Where that was made which asks for so many bytes outside of any op; the
  // first of a size counts.
  void AddSize(uint64_t bytes, StackIndex stack) {
    stack_of_id_.try_emplace(kSizes | bytes, stack);
  }
  // kNoStack for a size that was not recorded.
  StackIndex StackOfSize(uint64_t bytes) const {
    return StackOf(kSizes | bytes);
  }

  void AddText(StringId file, uint32_t line, StringId text) {
    texts_.try_emplace({file, line}, text);
  }
  // kEmptyString where it is not recorded.
  StringId TextOf(const CodeLine& line) const;

  void AddKeeper(RecordedKeeper keeper) {
    keepers_.push_back(std::move(keeper));
  }
  const std::vector<RecordedKeeper>& keepers() const { return keepers_; }

  bool empty() const { return stacks_.size() == 1 && ops_.empty(); }

  // All that is in it, for who keeps it.
  template <typename Visitor>
  void VisitState(Visitor& visit) {
    visit(lines_, line_ids_, stacks_, stack_of_id_, ops_, texts_, keepers_);
  }

 private:
  // Above all ids that are recorded: a stack is known by a size as by an id.
  static constexpr uint64_t kSizes = uint64_t{1} << 63;

  std::vector<CodeLine> lines_;
  absl::flat_hash_map<CodeLine, LineId> line_ids_;
  std::vector<RecordedStack> stacks_;
  absl::flat_hash_map<uint64_t, StackIndex> stack_of_id_;
  absl::flat_hash_map<StringId, OpSource> ops_;
  absl::flat_hash_map<std::pair<StringId, uint32_t>, StringId> texts_;
  std::vector<RecordedKeeper> keepers_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_TRACE_SOURCE_TABLE_H_
