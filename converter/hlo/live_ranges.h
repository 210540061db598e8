// When each buffer of a module is live, in program order.
//
// A *program point* is an instruction in the order in which a run of the module
// executes them: the schedule of the entry computation, with the computations
// that a call, a loop or a branch runs put in before it (as
// xla/hlo/utils/hlo_live_range.cc does). A loop's body stands there once.
#ifndef OOM_FORENSICS_CONVERTER_HLO_LIVE_RANGES_H_
#define OOM_FORENSICS_CONVERTER_HLO_LIVE_RANGES_H_

#include <cstdint>
#include <vector>

#include "converter/hlo/hlo_graph.h"

namespace oom_forensics {

using ProgramPoint = uint32_t;

// From its definition to its last use, both included.
struct LiveRange {
  ProgramPoint first = 0;
  ProgramPoint last = 0;
};

struct ProgramOrder {
  // The instruction at each point.
  std::vector<HloIndex> program;
  // The point of each instruction; kNoHloIndex: it has none of its own (it is
  // part of a fusion, or of a reduction).
  std::vector<ProgramPoint> point_of;
  // Of each computation: its last point; kNoHloIndex: it is not run by itself.
  std::vector<ProgramPoint> end_of;
};

// Empty where the module has no schedule.
ProgramOrder OrderOf(const HloGraph& graph);

struct BufferUse {
  LiveRange range;
  // The instruction that read it last; kNoHloIndex: none did.
  HloIndex last_user = kNoHloIndex;
};

// Follows values through tuples, loops, calls and branches to their last use.
class LiveRanges {
 public:
  LiveRanges(const HloGraph& graph, const ProgramOrder& order);

  // `buffer`: index into HloGraph::buffers.
  BufferUse UseOf(uint32_t buffer);
  // The work was cut short: ranges may end too early.
  bool gave_up() const { return steps_left_ == 0; }

  struct User {
    HloIndex instruction;
    uint32_t operand;
  };
  // Who reads what an instruction defines.
  const std::vector<User>& UsersOf(HloIndex instruction) const {
    return users_[instruction];
  }
  // What it defines, as indices into HloGraph::buffers.
  const std::vector<uint32_t>& BuffersOf(HloIndex instruction) const {
    return defined_[instruction];
  }

 private:
  // Where a value can be found: an instruction, and the element of its result.
  struct Position {
    HloIndex instruction;
    std::vector<int64_t> index;
  };

  void Follow(const Position& position, std::vector<Position>* found) const;
  void FollowCalls(const Position& at, const User& user,
                   std::vector<Position>* found) const;
  void FollowRoot(const Position& at, std::vector<Position>* found) const;
  bool IsDefinedAt(const Position& position) const;
  HloIndex ParameterOf(HloIndex computation, uint32_t number) const;

  const HloGraph& graph_;
  const ProgramOrder& order_;
  std::vector<std::vector<User>> users_;
  // Of each computation: the instructions that run it.
  std::vector<std::vector<HloIndex>> callers_;
  // Of each computation: its parameters by number.
  std::vector<std::vector<HloIndex>> parameters_;
  // Of each instruction: the buffers that it defines.
  std::vector<std::vector<uint32_t>> defined_;
  uint64_t steps_left_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_HLO_LIVE_RANGES_H_
