#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "converter/forensics/causes/cause.h"

namespace oom_forensics {
namespace {

using Finder = std::optional<Cause> (*)(const OomCase&);

constexpr Finder kFinders[] = {
    FindFailedAttempt,     FindOlderModels,    FindKeptIterations,
    FindLargeVariable,     FindReplicas,       FindHostData,
    FindRetracing,         FindTapedRounds,    FindPipelineBuffer,
    FindPrefetchedBatches, FindStepsInOneCall, FindFirstStepRegions,
};

// Of two causes that put down the same tensors, the one that knows more of them
// is told.
struct Precedence {
  const char* told;
  const char* hidden;
};

constexpr Precedence kPrecedences[] = {
    {kPipelineBuffer, "prefetched_batches"},
    {"steps_in_one_call", "prefetched_batches"},
};

bool Has(const std::vector<Cause>& causes, absl::string_view name) {
  return std::any_of(causes.begin(), causes.end(),
                     [&](const Cause& cause) { return cause.name == name; });
}

void Hide(std::vector<Cause>* causes) {
  for (const Precedence& each : kPrecedences) {
    if (!Has(*causes, each.told)) continue;
    causes->erase(std::remove_if(causes->begin(), causes->end(),
                                 [&](const Cause& cause) {
                                   return cause.name == each.hidden;
                                 }),
                  causes->end());
  }
}

}  // namespace

bool IsShareOfUse(const OomCase& oom, uint64_t bytes, double share) {
  return static_cast<double>(bytes) >=
         share * static_cast<double>(oom.usage().in_use_bytes);
}

std::vector<Cause> FindCauses(const OomCase& oom) {
  std::vector<Cause> causes;
  for (const Finder find : kFinders) {
    std::optional<Cause> cause = find(oom);
    if (cause.has_value()) causes.push_back(*std::move(cause));
  }
  Hide(&causes);
  std::stable_sort(
      causes.begin(), causes.end(),
      [](const Cause& a, const Cause& b) { return a.bytes > b.bytes; });
  return causes;
}

}  // namespace oom_forensics
