// When each buffer of a module is live, in program order.
//
// A *program point* is an instruction in the order in which a run of the module
// executes them: the schedule of the entry computation, with the computations
// that a call, a loop or a branch runs put in before it (as
// xla/hlo/utils/hlo_live_range.cc does). A loop's body stands there once.
#ifndef OOM_FORENSICS_CONVERTER_HLO_LIVE_RANGES_H_
#define OOM_FORENSICS_CONVERTER_HLO_LIVE_RANGES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
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
  // For each computation: its last point; kNoHloIndex: it is not run by itself.
  std::vector<ProgramPoint> end_of;
};

// Empty where the module has no schedule.
ProgramOrder OrderOf(const HloGraph& graph);

struct BufferUse {
  LiveRange range;
  // The instruction that read it last; kNoHloIndex: none did.
  HloIndex last_user = kNoHloIndex;
};

// Follows values through tuples, loops, calls and branches to their last use:
// with work in proportion to the module, whatever its shape.
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
  // Where a value can be found: an instruction, and the element of its result.
  using Position = std::pair<HloIndex, std::vector<int64_t>>;
  // The buffer that is defined there, as index into HloGraph::buffers;
  // kNoHloIndex: none is.
  uint32_t BufferAt(const Position& position) const;

 private:
  // What the users of an instruction come to.
  struct Readers {
    // The last one in program order, and its point; kNoHloIndex: none has one.
    HloIndex last = kNoHloIndex;
    ProgramPoint last_point = 0;
    // Those that hand all of it on.
    std::vector<User> passing;
  };

  void AddUser(HloIndex operand, const User& user);
  BufferUse Follow(uint32_t buffer);
  // Takes so many of the steps that are left; false: there are not as many.
  bool Spend(uint64_t steps);

  void FollowUsers(const Position& at, std::vector<Position>* found) const;
  void FollowCalls(const Position& at, const User& user,
                   std::vector<Position>* found) const;
  // Looks at `*looked_at` instructions.
  void FollowRoot(const Position& at, uint64_t* looked_at,
                  std::vector<Position>* found) const;
  HloIndex ParameterOf(HloIndex computation, uint32_t number) const;

  const HloGraph& graph_;
  const ProgramOrder& order_;
  std::vector<std::vector<User>> users_;
  std::vector<Readers> readers_;
  // Who takes one element of a result, by the instruction and the element.
  absl::flat_hash_map<std::pair<HloIndex, int64_t>, std::vector<HloIndex>>
      takers_;
  // For each computation: the instructions that run it and hand its result on.
  std::vector<std::vector<HloIndex>> callers_;
  // For each computation: its parameters by number.
  std::vector<std::vector<HloIndex>> parameters_;
  absl::flat_hash_map<Position, uint32_t> defined_;
  // By buffer, once it is asked for.
  std::vector<std::optional<BufferUse>> uses_;
  uint64_t steps_left_;
};

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_HLO_LIVE_RANGES_H_
