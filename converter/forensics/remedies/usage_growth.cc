#include "converter/forensics/remedies/usage_growth.h"

#include <optional>
#include <vector>

#include "converter/forensics/causes/remedy_candidate.h"
#include "converter/forensics/trend.h"

namespace oom_forensics {

uint64_t UsageGrowthPerStep(const OomCase& oom) {
  const std::vector<StepSpan>& spans = oom.steps().spans();
  // The first steps also grow where nothing is kept: slots, a pipeline's
  // buffers.
  std::vector<double> step;
  std::vector<double> in_use;
  for (size_t i = spans.size() / 2; i < spans.size(); ++i) {
    step.push_back(static_cast<double>(i));
    in_use.push_back(static_cast<double>(
        oom.replay().usage().At(spans[i].end).in_use_bytes));
  }
  const std::optional<Trend> trend = FitTrend(step, in_use);
  if (!trend.has_value() || trend->slope_low <= 0) return 0;
  const auto grown_bytes =
      static_cast<uint64_t>(trend->slope * static_cast<double>(step.size()));
  return IsWorthIt(oom, grown_bytes) ? static_cast<uint64_t>(trend->slope) : 0;
}

}  // namespace oom_forensics
