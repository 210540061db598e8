// What stands behind an out-of-memory, where the trace shows it: finer than the
// verdict's kind, with the bytes that are to be put down to it and, where there
// is one, a remedy of its own. Each is a predicate over what is held at the
// refusal (held.h) or over the step that was refused.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_CAUSE_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_CAUSE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/oom_case/oom_case.h"

namespace oom_forensics {

// Kinds of verdict that causes are cases of, besides "CAPACITY".
inline constexpr char kGrowthRegions[] = "GROWTH_REGIONS";
inline constexpr char kLeakLike[] = "LEAK_LIKE";
inline constexpr char kRetained[] = "RETAINED";
// Name of what an object of the program collects, though that may end.
inline constexpr char kCollection[] = "collection";
// Name of the one that speaks of the allocator, not of the program.
inline constexpr char kBlockSlack[] = "block_slack";
// Name of the one that no other remedy helps against.
inline constexpr char kWrongShape[] = "wrong_shape";

// How memory goes on growing, whatever else is changed.
struct Growth {
  // Why a remedy that leaves it alone is not enough; empty: it does not grow.
  std::string sentence;
  // It comes to an end, at a size that is not known.
  bool may_end = false;
};

struct Cause {
  // Stable name, that of its evidence: "kept_iterations", "older_models", ...
  std::string name;
  // The kind of verdict that it is a case of: "CAPACITY", "RETAINED".
  std::string kind;
  // Live bytes that are there because of it.
  uint64_t bytes = 0;
  // For a person, with the numbers in it.
  std::string sentence;
  std::optional<RemedyCandidate> remedy;
  Growth growth;
};

// All that apply, the largest first.
std::vector<Cause> FindCauses(const OomCase& oom);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_CAUSES_CAUSE_H_
