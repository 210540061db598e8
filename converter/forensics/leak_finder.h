// What is kept that should have gone: sites whose live bytes grow step by step,
// and single allocations that outlived their step though their siblings did
// not.
//
// A site here is op, shape and dtype. Its live bytes at the end of each step
// make a series; it is a leak where
//   - the series grows, with 95 % confidence, over all steps and over the later
//     half of them alone (a cache that was filled once has stopped growing),
//     and
//   - what is live was made in at least kMinLeakSteps different steps
//   (variables
//     and caches that were made once were not).
// What one gradient tape keeps is none: its backward pass still needs it.
// An allocation is a survivor where at least kMinSiblings of its site have been
// made and freed, nearly all within a step, and it has already lived several
// times as many steps as the longest-lived of them.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_LEAK_FINDER_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_LEAK_FINDER_H_

#include <cstdint>
#include <vector>

#include "converter/forensics/step_index.h"
#include "converter/forensics/trend.h"
#include "converter/replay/allocator_replay.h"

namespace oom_forensics {

inline constexpr size_t kMinLeakSteps = 3;
inline constexpr size_t kMinSiblings = 8;

struct FoundLeak {
  enum class Kind { kGrowth, kSurvivor };
  Kind kind = Kind::kGrowth;
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
  // The largest first.
  std::vector<FoundLeak> leaks;

  uint64_t ResidentBytes() const;
};

// Leaks as seen at `position` over the steps before it.
LeakSearchResult FindLeaks(const AllocatorReplay& replay, Position position);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_LEAK_FINDER_H_
