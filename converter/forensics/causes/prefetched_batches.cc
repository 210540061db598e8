// Batches that the input pipeline has made ahead of the steps that use them.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// One is used, one is ready, one is being made: what prefetch(1) has.
constexpr size_t kNeeded = 3;
// Elements that are still to be put together to a batch are more, and smaller.
constexpr double kBatchShare = 0.01;
// Part of the memory in use that the batches must hold.
constexpr double kBatchesShare = 0.2;
// In the name of the op that makes any part of a pipeline.
constexpr const char* kPipelineOp = "Dataset";

bool HasPipeline(const OomCase& oom) {
  return std::any_of(oom.live().begin(), oom.live().end(), [&oom](Row row) {
    return absl::StrContains(oom.host().OpOf(oom.replay().SiteOf(row)),
                             kPipelineOp);
  });
}

// Whether a thread of the pipeline made it: no op of the step, and not where
// the program itself called (what it makes from NumPy has a line).
bool MayBeBatch(const OomCase& oom, Row row) {
  const AllocationSite& site = oom.replay().SiteOf(row);
  return site.stack == kNoStack && site.mode != SiteMode::kEager &&
         site.compiled == 0 && !oom.IsOfThisStep(row) &&
         oom.roles().RoleOf(row) != ROLE_VARIABLE &&
         oom.roles().RoleOf(row) != ROLE_OPTIMIZER &&
         IsShareOfUse(oom, site.requested_bytes, kBatchShare);
}

// The live rows of one kind that hold most, oldest first, each of a run of its
// own of the pipeline's function, where it has one.
std::vector<Row> Batches(const OomCase& oom) {
  std::map<std::pair<StringId, uint64_t>, std::vector<Row>> alike;
  for (const Row row : oom.live()) {
    if (!MayBeBatch(oom, row)) continue;
    const AllocationSite& site = oom.replay().SiteOf(row);
    alike[{site.op, site.requested_bytes}].push_back(row);
  }
  std::vector<Row> most;
  uint64_t most_bytes = 0;
  for (auto& [kind, rows] : alike) {
    absl::flat_hash_set<int64_t> runs;
    for (const Row row : rows) {
      runs.insert(oom.replay().trace().ContextOf(row).step_id);
    }
    const bool is_of_op = kind.first != kEmptyString;
    const uint64_t bytes = kind.second * rows.size();
    if (rows.size() <= kNeeded || bytes <= most_bytes ||
        (is_of_op && runs.size() < rows.size())) {
      continue;
    }
    most_bytes = bytes;
    most = rows;
  }
  std::sort(most.begin(), most.end());
  return most;
}

}  // namespace

std::optional<Cause> FindPrefetchedBatches(const OomCase& oom) {
  if (!oom.leaks().empty() || !HasPipeline(oom)) return std::nullopt;
  const std::vector<Row> batches = Batches(oom);
  uint64_t bytes = 0;
  for (const Row row : batches) bytes += oom.replay().BytesOf(row);
  if (batches.empty() || !IsShareOfUse(oom, bytes, kBatchesShare)) {
    return std::nullopt;
  }
  Cause cause;
  cause.name = "prefetched_batches";
  cause.kind = "CAPACITY";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      "The input pipeline is ahead of the steps: ",
      CountOf(batches.size(), "tensor"), " of ",
      FormatBytes(oom.replay().SiteOf(batches.front()).requested_bytes),
      " are ready or being made, ", FormatBytes(bytes),
      " in all. prefetch() keeps so many as its number says, and maps in "
      "parallel one for each call.");
  RemedyCandidate candidate;
  candidate.remedy.set_kind("less_prefetch");
  candidate.remedy.set_title(
      "Let the input pipeline work less far ahead: a smaller prefetch(), fewer "
      "parallel calls.");
  candidate.remedy.set_detail(absl::StrCat(
      cause.sentence,
      " One batch that is ready hides the time to make the next one; more help "
      "only where that time varies."));
  candidate.remedy.set_code(
      "dataset.prefetch(1)  # and map(..., num_parallel_calls=2)");
  const auto kept = static_cast<std::ptrdiff_t>(kNeeded);
  candidate.scenario = WithoutRows(
      oom, absl::flat_hash_set<Row>(batches.begin(), batches.end() - kept));
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
