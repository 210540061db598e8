#include "converter/hlo/live_ranges.h"

#include <utility>

#include "absl/container/flat_hash_set.h"
#include "converter/cancellation/cancellation.h"
#include "converter/text/text.h"

namespace oom_forensics {
namespace {

// Far more than any real module needs, and in proportion to its size: of one
// whose parts all refer to each other some ranges end too early.
constexpr uint64_t kMinSteps = 500'000;
constexpr uint64_t kStepsPerLink = 16;
// Calls within calls; real ones stay below ten.
constexpr size_t kMaxCallDepth = 100;
// Tuples within tuples; real ones stay below five.
constexpr size_t kMaxTupleDepth = 16;

// Runs its computations as it is reached, at points of their own.
bool RunsItsComputations(std::string_view opcode) {
  return opcode == "while" || opcode == "call" || opcode == "conditional" ||
         StartsWith(opcode, "async-");
}

// Its result is that of a computation that it runs.
bool HandsResultOn(std::string_view opcode) {
  return opcode == "while" || opcode == "call" || opcode == "conditional";
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
  uint64_t round = 0;
  while (!stack.empty()) {
    StopIfCancelled(round++);
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
      readers_(graph.instructions.size()),
      callers_(graph.computations.size()),
      parameters_(graph.computations.size()),
      uses_(graph.buffers.size()) {
  uint64_t links = graph.instructions.size() + graph.buffers.size();
  for (HloIndex i = 0; i < graph.instructions.size(); ++i) {
    StopIfCancelled(i);
    const HloInstruction& each = graph.instructions[i];
    links += each.operands.size() + each.called.size();
    for (size_t k = 0; k < each.operands.size(); ++k) {
      AddUser(each.operands[k], {i, static_cast<uint32_t>(k)});
    }
    if (HandsResultOn(each.opcode)) {
      for (const HloIndex called : each.called) {
        std::vector<HloIndex>& callers = callers_[called];
        if (callers.empty() || callers.back() != i) callers.push_back(i);
      }
    }
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
    const HloBuffer& buffer = graph.buffers[i];
    if (buffer.instruction == kNoHloIndex) continue;
    defined_.try_emplace({buffer.instruction, buffer.shape_index}, i);
  }
  steps_left_ = kMinSteps + links * kStepsPerLink;
}

void LiveRanges::AddUser(HloIndex operand, const User& user) {
  users_[operand].push_back(user);
  const HloInstruction& each = graph_.instructions[user.instruction];
  Readers& readers = readers_[operand];
  if (each.opcode == "get-tuple-element") {
    takers_[{operand, each.tuple_index}].push_back(user.instruction);
    return;
  }
  const ProgramPoint point = order_.point_of[user.instruction];
  if (each.opcode != "tuple" && point != kNoHloIndex &&
      (readers.last == kNoHloIndex || point >= readers.last_point)) {
    readers.last = user.instruction;
    readers.last_point = point;
  }
  if (each.opcode == "tuple" || EndsWith(each.opcode, "-start") ||
      IsAlias(each.opcode) || RunsItsComputations(each.opcode)) {
    readers.passing.push_back(user);
  }
}

uint32_t LiveRanges::BufferAt(const Position& position) const {
  const auto found = defined_.find(position);
  return found == defined_.end() ? kNoHloIndex : found->second;
}

bool LiveRanges::Spend(uint64_t steps) {
  StopIfCancelled(steps_left_);
  const bool enough = steps <= steps_left_;
  steps_left_ = enough ? steps_left_ - steps : 0;
  return enough;
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
    if (parameter != kNoHloIndex) found->push_back({parameter, at.second});
  };
  if (caller.opcode == "while") {
    for (const HloIndex called : caller.called) enter(called, 0);
    // What the body does not change is the loop's result, too.
    found->push_back({user.instruction, at.second});
  } else if (caller.opcode == "conditional") {
    if (user.operand >= 1 && user.operand - 1 < caller.called.size()) {
      enter(caller.called[user.operand - 1], 0);
    }
  } else if (caller.opcode == "call") {
    if (!caller.called.empty()) enter(caller.called[0], user.operand);
  }
}

void LiveRanges::FollowRoot(const Position& at, uint64_t* looked_at,
                            std::vector<Position>* found) const {
  const HloIndex computation = graph_.instructions[at.first].computation;
  if (computation == kNoHloIndex ||
      graph_.computations[computation].root != at.first) {
    return;
  }
  for (const HloIndex caller : callers_[computation]) {
    const HloInstruction& each = graph_.instructions[caller];
    ++*looked_at;
    if (each.opcode == "while") {
      *looked_at += each.called.size();
      // The condition's result goes nowhere.
      for (const HloIndex called : each.called) {
        if (called != computation) continue;
        const HloIndex parameter = ParameterOf(called, 0);
        if (parameter != kNoHloIndex) found->push_back({parameter, at.second});
      }
    }
    found->push_back({caller, at.second});
  }
}

void LiveRanges::FollowUsers(const Position& at,
                             std::vector<Position>* found) const {
  const auto& [instruction, index] = at;
  if (!index.empty()) {
    const auto takers = takers_.find({instruction, index[0]});
    if (takers != takers_.end()) {
      const std::vector<int64_t> inner(index.begin() + 1, index.end());
      for (const HloIndex taker : takers->second) {
        found->push_back({taker, inner});
      }
    }
  }
  for (const User& user : readers_[instruction].passing) {
    const HloInstruction& each = graph_.instructions[user.instruction];
    if (each.opcode == "tuple" || EndsWith(each.opcode, "-start")) {
      if (index.size() >= kMaxTupleDepth) continue;
      Position position = {user.instruction, {user.operand}};
      position.second.insert(position.second.end(), index.begin(), index.end());
      found->push_back(std::move(position));
    } else if (IsAlias(each.opcode)) {
      if (user.operand == 0) found->push_back({user.instruction, index});
    } else {
      FollowCalls(at, user, found);
    }
  }
}

BufferUse LiveRanges::UseOf(uint32_t buffer) {
  std::optional<BufferUse>& use = uses_[buffer];
  if (!use.has_value()) use = Follow(buffer);
  return *use;
}

BufferUse LiveRanges::Follow(uint32_t buffer) {
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
  absl::flat_hash_set<Position> seen;
  std::vector<Position> found;
  while (!open.empty()) {
    Position at = std::move(open.back());
    open.pop_back();
    if (seen.contains(at)) continue;
    const Readers& readers = readers_[at.first];
    if (readers.last != kNoHloIndex) extend(readers.last_point, readers.last);
    const HloIndex computation = graph_.instructions[at.first].computation;
    if (computation != kNoHloIndex &&
        graph_.computations[computation].root == at.first) {
      extend(order_.end_of[computation], kNoHloIndex);
      if (computation == graph_.entry) extend(last, kNoHloIndex);
    }
    found.clear();
    uint64_t looked_at = 1 + readers.passing.size();
    FollowUsers(at, &found);
    FollowRoot(at, &looked_at, &found);
    seen.insert(std::move(at));
    if (!Spend(looked_at + found.size())) return use;
    for (Position& position : found) {
      // Where another value is defined this one is not: a loop changes it.
      if (BufferAt(position) == kNoHloIndex)
        open.push_back(std::move(position));
    }
  }
  return use;
}

}  // namespace oom_forensics
