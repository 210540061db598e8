#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "converter/forensics/causes/cause.h"

namespace oom_forensics {
namespace {

using Finder = std::optional<Cause> (*)(const OomCase&);

constexpr Finder kFinders[] = {
    FindFailedAttempt, FindOlderModels, FindKeptIterations,
    FindLargeVariable, FindReplicas,    FindHostData,
    FindRetracing,     FindTapedRounds, FindPipelineBuffer,
};

}  // namespace

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
