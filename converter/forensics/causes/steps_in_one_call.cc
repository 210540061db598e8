// Keras' predict() with steps_per_execution: one call of its function fetches
// so many batches at once, and keeps the outputs of all until they are joined.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "converter/forensics/causes/cause.h"
#include "converter/trace/forecast_trace.h"
#include "core/size_text.h"

namespace oom_forensics {
namespace {

// What Keras 3 calls the function that does several steps of predict().
constexpr const char* kManySteps = "multi_step_on_data";
constexpr double kStepsShare = 0.2;

}  // namespace

std::optional<Cause> FindStepsInOneCall(const OomCase& oom) {
  const ForecastTrace* const graph = ForecastOf(oom.replay(), oom.failure());
  if (graph == nullptr || !absl::StrContains(graph->function, kManySteps)) {
    return std::nullopt;
  }
  // Each step makes the same: batches and outputs alike, as many as there are
  // steps. What is larger than all of them together is something else.
  absl::flat_hash_map<uint64_t, std::vector<Row>> alike;
  const Position begin =
      BeginOfRun(oom.replay(), oom.failure(), graph->step_id);
  for (const Row row : oom.live()) {
    const Role role = oom.roles().RoleOf(row);
    if (role == ROLE_VARIABLE || role == ROLE_OPTIMIZER) continue;
    const AllocationSite& site = oom.replay().SiteOf(row);
    // Of what was there before, the batches alone: a thread of the pipeline
    // made them, or they came from NumPy.
    if (row < begin && !oom.host().OpOf(site).empty() &&
        (site.stack != kNoStack || site.mode == SiteMode::kEager)) {
      continue;
    }
    alike[site.requested_bytes].push_back(row);
  }
  absl::flat_hash_set<Row> of_other_steps;
  uint64_t bytes = 0;
  size_t most = 0;
  for (const auto& [size, rows] : alike) {
    if (rows.size() < 2) continue;
    for (const Row row : rows) bytes += oom.replay().BytesOf(row);
    if (IsShareOfUse(oom, size * rows.size(), kStepsShare)) {
      most = std::max(most, rows.size());
    }
    of_other_steps.insert(rows.begin(), rows.end() - 1);
  }
  if (most < 2) return std::nullopt;
  Cause cause;
  cause.name = "steps_in_one_call";
  cause.kind = "CAPACITY";
  cause.bytes = bytes;
  cause.sentence = absl::StrCat(
      "steps_per_execution has predict() do several steps in one call: it "
      "fetches the batches of all of them first, and keeps their outputs until "
      "the last is done: ",
      FormatBytes(bytes), " in ", FormatCount(most), " batches by now.");
  RemedyCandidate candidate;
  candidate.remedy.set_kind("fewer_steps_per_execution");
  candidate.remedy.set_title("Predict with steps_per_execution=1.");
  candidate.remedy.set_detail(cause.sentence);
  candidate.remedy.set_code(
      "model.compile(..., steps_per_execution=1)  # before predict()");
  candidate.scenario = WithoutRows(oom, std::move(of_other_steps));
  // The forecast is of all steps of the call.
  candidate.is_estimate = true;
  cause.remedy = std::move(candidate);
  return cause;
}

}  // namespace oom_forensics
