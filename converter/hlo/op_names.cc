#include "converter/hlo/op_names.h"

#include "converter/cancellation/cancellation.h"
#include "converter/text/text.h"
#include "converter/trace/op_name.h"

namespace oom_forensics {
namespace {

// A chain of copies and reshapes that is longer ends without a name.
constexpr int kMaxChain = 16;

// What the compiler calls the arguments and results of a module as a whole.
bool IsOfModule(std::string_view op_name) {
  return op_name == "XLA_Args" || op_name == "XLA_Retvals";
}

// The op_name of an instruction that XLA merged from several has all their
// names, with ";" between; the first one counts.
std::string_view OwnName(const HloInstruction& instruction) {
  const std::string_view first =
      instruction.op_name.substr(0, instruction.op_name.find(';'));
  return IsOfModule(first) ? std::string_view() : first;
}

class OpNamer {
 public:
  OpNamer(const HloGraph& graph, const LiveRanges& ranges)
      : graph_(graph), ranges_(ranges), names_(graph.instructions.size()) {
    for (const HloComputation& computation : graph.computations) {
      fused_.push_back(FusedName(computation));
    }
    for (HloIndex i = 0; i < names_.size(); ++i) {
      StopIfCancelled(i);
      names_[i] = InnerName(i);
    }
    for (HloIndex i = 0; i < names_.size(); ++i) {
      StopIfCancelled(i);
      of_users_.push_back(FirstNameOfUsers(i));
    }
  }

  std::vector<std::string_view> Finish() {
    std::vector<std::string_view> finished = names_;
    for (HloIndex i = 0; i < names_.size(); ++i) {
      StopIfCancelled(i);
      if (finished[i].empty()) finished[i] = NameByOperands(i);
      if (finished[i].empty()) finished[i] = NameByUsers(i);
    }
    return finished;
  }

 private:
  // From the instruction itself and what is fused into it.
  std::string_view InnerName(HloIndex i) const {
    const HloInstruction& instruction = graph_.instructions[i];
    std::string_view best = OwnName(instruction);
    if (instruction.opcode != "fusion" || !ScopeOf(best).empty()) return best;
    for (const HloIndex called : instruction.called) {
      const std::string_view name = fused_[called];
      if (!ScopeOf(name).empty()) return name;
      if (best.empty()) best = name;
    }
    return best;
  }

  // The name of its last instruction in a scope, or else of the last one named.
  std::string_view FusedName(const HloComputation& computation) const {
    const std::vector<HloIndex>& fused = computation.instructions;
    std::string_view best;
    for (auto each = fused.rbegin(); each != fused.rend(); ++each) {
      const std::string_view name = OwnName(graph_.instructions[*each]);
      if (!ScopeOf(name).empty()) return name;
      if (best.empty()) best = name;
    }
    return best;
  }

  std::string_view FirstNameOfUsers(HloIndex i) const {
    for (const LiveRanges::User& user : ranges_.UsersOf(i)) {
      const std::string_view name = names_[user.instruction];
      if (!name.empty()) return name;
    }
    return {};
  }

  std::string_view NameByOperands(HloIndex i) const {
    for (int left = kMaxChain; left > 0; --left) {
      const HloInstruction& instruction = graph_.instructions[i];
      if (instruction.operands.empty()) return {};
      i = instruction.operands[0];
      if (!names_[i].empty()) return names_[i];
    }
    return {};
  }

  // Through at most kMaxChain readers, the first of each.
  std::string_view NameByUsers(HloIndex i) const {
    for (int left = kMaxChain; left > 0; --left) {
      const auto& users = ranges_.UsersOf(i);
      if (users.empty()) return {};
      if (!of_users_[i].empty()) return of_users_[i];
      i = users.front().instruction;
    }
    return {};
  }

  const HloGraph& graph_;
  const LiveRanges& ranges_;
  // By computation.
  std::vector<std::string_view> fused_;
  // By instruction.
  std::vector<std::string_view> names_;
  std::vector<std::string_view> of_users_;
};

}  // namespace

std::vector<std::string_view> OpNamesOf(const HloGraph& graph,
                                        const LiveRanges& ranges) {
  return OpNamer(graph, ranges).Finish();
}

std::string_view FunctionOfModule(std::string_view module_name) {
  std::string_view name = module_name;
  // ".12" of the module, then the attributes of the function.
  const size_t dot = name.rfind('.');
  std::string_view number =
      dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
  uint64_t ignored = 0;
  if (ParseInteger(number, &ignored)) name = name.substr(0, dot);
  for (const std::string_view attribute :
       {"__XlaMustCompile", "__XlaCompiledKernel"}) {
    name = name.substr(0, name.find(attribute));
  }
  while (ConsumeSuffix(&name, "_")) {
  }
  for (const std::string_view prefix : {"a_inference_", "__inference_"}) {
    if (ConsumePrefix(&name, prefix)) {
      name = WithoutNumber(name);
      break;
    }
  }
  while (ConsumeSuffix(&name, "_")) {
  }
  return name.empty() ? module_name : name;
}

}  // namespace oom_forensics
