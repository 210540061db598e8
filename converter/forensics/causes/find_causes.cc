#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

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
  std::stable_sort(
      causes.begin(), causes.end(),
      [](const Cause& a, const Cause& b) { return a.bytes > b.bytes; });
  return causes;
}

}  // namespace oom_forensics
