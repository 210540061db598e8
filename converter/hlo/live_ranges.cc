#include "converter/hlo/live_ranges.h"

#include <algorithm>
#include <set>
#include <utility>

#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// Far more than any real module needs.
constexpr uint64_t kMaxSteps = 50'000'000;
// Calls within calls; real ones stay below ten.
constexpr size_t kMaxCallDepth = 100;
// Tuples within tuples; real ones stay below five.
constexpr size_t kMaxTupleDepth = 16;

// Runs its computations as it is reached, at points of their own.
bool RunsItsComputations(std::string_view opcode) {
  return opcode == "while" || opcode == "call" || opcode == "conditional" ||
         StartsWith(opcode, "async-");
}

// Hands its operand on, unread.
bool OnlyPasses(std::string_view opcode) {
  return opcode == "tuple" || opcode == "get-tuple-element";
}

// The same bytes under another shape, or none other at all.
bool IsAlias(std::string_view opcode) {
  return opcode == "bitcast" || opcode == "opt-barrier" || opcode == "domain" ||
         opcode == "add-dependency";
}

}  // namespace

ProgramOrder OrderOf(const HloGraph& graph) {
  ProgramOrder order;
  order.point_of.assign(graph.instructions.size(), kNoHloIndex);
  order.end_of.assign(graph.computations.size(), kNoHloIndex);
  if (graph.entry == kNoHloIndex) return order;
  struct Frame {
    HloIndex computation;
    size_t next = 0;
    size_t called = 0;
  };
  std::vector<bool> entered(graph.computations.size());
  std::vector<Frame> stack = {{graph.entry}};
  entered[graph.entry] = true;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const HloComputation& computation = graph.computations[frame.computation];
    if (frame.next == computation.sequence.size()) {
      if (!order.program.empty()) {
        order.end_of[frame.computation] =
            static_cast<ProgramPoint>(order.program.size() - 1);
      }
      stack.pop_back();
      continue;
    }
    const HloIndex instruction = computation.sequence[frame.next];
    const HloInstruction& each = graph.instructions[instruction];
    if (RunsItsComputations(each.opcode) && frame.called < each.called.size()) {
      const HloIndex called = each.called[frame.called++];
      if (!entered[called] && stack.size() < kMaxCallDepth) {
        entered[called] = true;
        stack.push_back({called});
      }
      continue;
    }
    if (order.point_of[instruction] == kNoHloIndex) {
      order.point_of[instruction] =
          static_cast<ProgramPoint>(order.program.size());
      order.program.push_back(instruction);
    }
    ++frame.next;
    frame.called = 0;
  }
  return order;
}

LiveRanges::LiveRanges(const HloGraph& graph, const ProgramOrder& order)
    : graph_(graph),
      order_(order),
      users_(graph.instructions.size()),
      callers_(graph.computations.size()),
      parameters_(graph.computations.size()),
      defined_(graph.instructions.size()),
      steps_left_(kMaxSteps) {
  for (HloIndex i = 0; i < graph.instructions.size(); ++i) {
    const HloInstruction& each = graph.instructions[i];
    for (size_t k = 0; k < each.operands.size(); ++k) {
      users_[each.operands[k]].push_back({i, static_cast<uint32_t>(k)});
    }
    for (const HloIndex called : each.called) callers_[called].push_back(i);
    if (each.opcode == "parameter" && each.computation != kNoHloIndex) {
      std::vector<HloIndex>& parameters = parameters_[each.computation];
      const auto number = static_cast<size_t>(each.parameter_number);
      // Parameters are numbered without gaps: a larger number is damage.
      if (number < graph.computations[each.computation].instructions.size()) {
        if (number >= parameters.size()) {
          parameters.resize(number + 1, kNoHloIndex);
        }
        parameters[number] = i;
      }
    }
  }
  for (uint32_t i = 0; i < graph.buffers.size(); ++i) {
    if (graph.buffers[i].instruction != kNoHloIndex) {
      defined_[graph.buffers[i].instruction].push_back(i);
    }
  }
}

bool LiveRanges::IsDefinedAt(const Position& position) const {
  for (const uint32_t buffer : defined_[position.instruction]) {
    if (graph_.buffers[buffer].shape_index == position.index) return true;
  }
  return false;
}

HloIndex LiveRanges::ParameterOf(HloIndex computation, uint32_t number) const {
  const std::vector<HloIndex>& parameters = parameters_[computation];
  return number < parameters.size() ? parameters[number] : kNoHloIndex;
}

void LiveRanges::FollowCalls(const Position& at, const User& user,
                             std::vector<Position>* found) const {
  const HloInstruction& caller = graph_.instructions[user.instruction];
  const auto enter = [&](HloIndex computation, uint32_t number) {
    const HloIndex parameter = ParameterOf(computation, number);
    if (parameter != kNoHloIndex) found->push_back({parameter, at.index});
  };
  if (caller.opcode == "while") {
    for (const HloIndex called : caller.called) enter(called, 0);
    // What the body does not change is the loop's result, too.
    found->push_back({user.instruction, at.index});
  } else if (caller.opcode == "conditional") {
    if (user.operand >= 1 && user.operand - 1 < caller.called.size()) {
      enter(caller.called[user.operand - 1], 0);
    }
  } else if (caller.opcode == "call") {
    if (!caller.called.empty()) enter(caller.called[0], user.operand);
  }
}

void LiveRanges::FollowRoot(const Position& at,
                            std::vector<Position>* found) const {
  const HloIndex computation = graph_.instructions[at.instruction].computation;
  if (computation == kNoHloIndex ||
      graph_.computations[computation].root != at.instruction) {
    return;
  }
  for (const HloIndex caller : callers_[computation]) {
    const HloInstruction& each = graph_.instructions[caller];
    if (each.opcode == "while") {
      // The condition's result goes nowhere.
      for (const HloIndex called : each.called) {
        if (called != computation) continue;
        const HloIndex parameter = ParameterOf(called, 0);
        if (parameter != kNoHloIndex) found->push_back({parameter, at.index});
      }
      found->push_back({caller, at.index});
    } else if (each.opcode == "call" || each.opcode == "conditional") {
      found->push_back({caller, at.index});
    }
  }
}

void LiveRanges::Follow(const Position& at,
                        std::vector<Position>* found) const {
  for (const User& user : users_[at.instruction]) {
    const HloInstruction& each = graph_.instructions[user.instruction];
    if (each.opcode == "tuple" || EndsWith(each.opcode, "-start")) {
      if (at.index.size() >= kMaxTupleDepth) continue;
      Position position = {user.instruction, {user.operand}};
      position.index.insert(position.index.end(), at.index.begin(),
                            at.index.end());
      found->push_back(std::move(position));
    } else if (each.opcode == "get-tuple-element") {
      if (!at.index.empty() && at.index[0] == each.tuple_index) {
        found->push_back(
            {user.instruction, {at.index.begin() + 1, at.index.end()}});
      }
    } else if (IsAlias(each.opcode)) {
      if (user.operand == 0) found->push_back({user.instruction, at.index});
    } else if (RunsItsComputations(each.opcode)) {
      FollowCalls(at, user, found);
    }
  }
  FollowRoot(at, found);
}

BufferUse LiveRanges::UseOf(uint32_t buffer) {
  const HloBuffer& defined = graph_.buffers[buffer];
  BufferUse use;
  if (order_.program.empty()) return use;
  const auto last = static_cast<ProgramPoint>(order_.program.size() - 1);
  use.range = {0, last};
  if (defined.instruction == kNoHloIndex ||
      order_.point_of[defined.instruction] == kNoHloIndex) {
    return use;
  }
  const ProgramPoint first = order_.point_of[defined.instruction];
  use.range = {first, first};
  const auto extend = [&use](ProgramPoint point, HloIndex user) {
    if (point == kNoHloIndex || point < use.range.last) return;
    use.range.last = point;
    if (user != kNoHloIndex) use.last_user = user;
  };
  std::vector<Position> open = {{defined.instruction, defined.shape_index}};
  std::set<std::pair<HloIndex, std::vector<int64_t>>> seen;
  std::vector<Position> found;
  while (!open.empty()) {
    const Position at = std::move(open.back());
    open.pop_back();
    if (!seen.insert({at.instruction, at.index}).second) continue;
    for (const User& user : users_[at.instruction]) {
      if (steps_left_ == 0) return use;
      --steps_left_;
      const HloInstruction& each = graph_.instructions[user.instruction];
      if (!OnlyPasses(each.opcode)) {
        extend(order_.point_of[user.instruction], user.instruction);
      }
    }
    const HloIndex computation =
        graph_.instructions[at.instruction].computation;
    if (computation != kNoHloIndex &&
        graph_.computations[computation].root == at.instruction) {
      extend(order_.end_of[computation], kNoHloIndex);
      if (computation == graph_.entry) extend(last, kNoHloIndex);
    }
    found.clear();
    Follow(at, &found);
    steps_left_ -= std::min<uint64_t>(steps_left_, found.size());
    for (Position& position : found) {
      // Where another value is defined this one is not: a loop changes it.
      if (!IsDefinedAt(position)) open.push_back(std::move(position));
    }
  }
  return use;
}

}  // namespace oom_forensics
