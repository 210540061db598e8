// A pool that grew for small steps: its pieces are as large as those needed
// them, and a later step with larger shapes finds none that is large enough.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// The largest request that was served before the failure.
uint64_t LargestServed(const OomCase& oom) {
  const AllocatorTrace& trace = oom.replay().trace();
  uint64_t largest = 0;
  for (Row row = 0; row < oom.failure(); ++row) {
    if (trace.kind_of[row] != RowKind::kAlloc) continue;
    largest = std::max(largest, oom.replay().SiteOf(row).requested_bytes);
  }
  return largest;
}

}  // namespace

std::optional<Cause> FindFirstStepRegions(const OomCase& oom) {
  // Steps had ended: what they needed the pool has.
  if (oom.layout().size() < 2 || oom.steps().spans().empty() ||
      oom.available_bytes() < oom.rounded_bytes() ||
      oom.short_by_bytes() == 0) {
    return std::nullopt;
  }
  const uint64_t served_bytes = LargestServed(oom);
  if (served_bytes >= oom.requested_bytes()) return std::nullopt;
  uint64_t largest_bytes = 0;
  for (const RegionLayout& region : oom.layout()) {
    largest_bytes = std::max(largest_bytes, region.size_bytes);
  }
  if (largest_bytes >= oom.rounded_bytes()) return std::nullopt;
  Cause cause;
  cause.name = "first_step_regions";
  cause.kind = kGrowthRegions;
  cause.bytes = oom.free_bytes();
  cause.sentence = absl::StrCat(
      "They are as large as the ", CountOf(oom.steps().spans().size(), "step"),
      " before needed them, at most ", FormatBytes(largest_bytes),
      ": no request had been above ", FormatBytes(served_bytes),
      ". This step is larger than the first one was.");
  RemedyCandidate candidate;
  candidate.remedy.set_kind("largest_first");
  candidate.remedy.set_title(
      "Run one step with the largest shapes first, so that the pool begins "
      "with pieces that are large enough.");
  candidate.remedy.set_detail(absl::StrCat(
      "Of lengths that differ from batch to batch the longest goes first; or "
      "all are padded to one length. ",
      cause.sentence));
  candidate.remedy.set_code(
      "model.train_on_batch(longest_x, longest_y)  # before fit()");
  Scenario scenario;
  scenario.one_region = true;
  candidate.scenario = WithRestOfStep(oom, std::move(scenario));
  // What the largest step takes beyond this request is not known.
  candidate.is_estimate = true;
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
