#include "converter/hlo/results.h"

#include <utility>

namespace oom_forensics {
namespace {

// A chain of tuples and their elements that is longer is not followed.
constexpr int kMaxChain = 16;

}  // namespace

uint32_t BufferOfResult(const HloGraph& graph, const LiveRanges& ranges,
                        const std::vector<int64_t>& output_index) {
  if (graph.entry == kNoHloIndex) return kNoHloIndex;
  HloIndex at = graph.computations[graph.entry].root;
  std::vector<int64_t> index = output_index;
  for (int left = kMaxChain; left > 0 && at != kNoHloIndex; --left) {
    const HloInstruction& instruction = graph.instructions[at];
    const auto& operands = instruction.operands;
    if (instruction.opcode == "tuple" && !index.empty()) {
      if (index.front() < 0 ||
          static_cast<size_t>(index.front()) >= operands.size()) {
        return kNoHloIndex;
      }
      at = operands[static_cast<size_t>(index.front())];
      index.erase(index.begin());
    } else if (instruction.opcode == "get-tuple-element" && !operands.empty()) {
      index.insert(index.begin(), instruction.tuple_index);
      at = operands.front();
    } else if (instruction.opcode == "bitcast" && !operands.empty()) {
      at = operands.front();
    } else {
      break;
    }
  }
  if (at == kNoHloIndex) return kNoHloIndex;
  return ranges.BufferAt({at, std::move(index)});
}

}  // namespace oom_forensics
