// What is kept that should have gone: what an object of the program collects
// step by step, sites whose live bytes grow so, and single allocations that
// outlived their step though their siblings did not.
//
// Where Python told of the list, dict or other object that holds the tensors,
// they are one group, whatever their shapes. Else a group is op, shape and
// dtype; of what no op made, whose shape is not known, the size. Its live bytes
// at the end of each step make a series; it is a leak where
//   - the series grows, with 95 % confidence, over all steps and over the later
//     half of them alone (a cache that was filled once has stopped growing),
//   - what is live was made in at least kMinLeakSteps different steps, and
//   - nothing shows an end: a deque has a maxlen, a list that was filled before
//     the work in hand began is full, and a list of few items may be emptied at
//     the end of a step that has not been seen.
// The values of variables are none (a program means to hold them, or holds the
// models of earlier rounds), nor is what one gradient tape keeps: its backward
// pass still needs it.
// An allocation is a survivor where at least kMinSiblings of its site have been
// made and freed, nearly all within a step, and it has already lived several
// times as many steps as the longest-lived of them.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_LEAK_FINDER_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_LEAK_FINDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "converter/forensics/held.h"
#include "converter/forensics/step_index.h"
#include "converter/forensics/trend.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

inline constexpr size_t kMinLeakSteps = 3;
inline constexpr size_t kMinSiblings = 8;

struct FoundLeak {
  enum class Kind { kGrowth, kSurvivor };
  Kind kind = Kind::kGrowth;
  // How the growth of what an object collects comes to an end.
  enum class End { kNotSeen, kHasBound, kIsFull, kMayBeEmptied };
  End end = End::kNotSeen;
  // The object that keeps the rows; null: none is known to.
  const Container* container = nullptr;
  // Live allocations of the site that were kept, oldest first.
  std::vector<Row> rows;
  uint64_t live_bytes = 0;
  // kGrowth: bytes per step; `since` is an index into StepIndex::spans().
  Trend trend;
  // Live bytes of the site at the end of each step.
  std::vector<uint64_t> bytes_by_step;
};

struct LeakSearchResult {
  // The steps that the leaks are counted in.
  StepIndex steps;
  // The largest first. Those of which no end is in sight.
  std::vector<FoundLeak> leaks;
  // What objects of the program collected, and an end may be.
  std::vector<FoundLeak> collections;
  // Who keeps what; `container` points into it.
  std::shared_ptr<const HeldTable> held;

  uint64_t ResidentBytes() const;
};

// Leaks as seen at `position` over the steps before it.
LeakSearchResult FindLeaks(const AllocatorReplay& replay, Position position);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_LEAK_FINDER_H_
