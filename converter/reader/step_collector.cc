#include "converter/reader/step_collector.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace oom_forensics {
namespace {

constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

}  // namespace

void StepCollector::Add(int64_t number, int64_t begin_ps, int64_t end_ps) {
  if (number < 0) return;
  steps_.push_back({number, begin_ps, std::max(begin_ps, end_ps)});
}

void StepCollector::AddBegin(int64_t number, int64_t begin_ps) {
  steps_.push_back({std::max(number, kUnknownStep), begin_ps, kNoEnd});
}

std::vector<TrainingStep> StepCollector::Finish(int64_t trace_end_ps) {
  const auto has_no_end = [](const TrainingStep& step) {
    return step.end_ps == kNoEnd;
  };
  if (!std::all_of(steps_.begin(), steps_.end(), has_no_end)) {
    steps_.erase(std::remove_if(steps_.begin(), steps_.end(), has_no_end),
                 steps_.end());
  }
  std::stable_sort(steps_.begin(), steps_.end(),
                   [](const TrainingStep& a, const TrainingStep& b) {
                     return a.begin_ps < b.begin_ps;
                   });
  std::vector<TrainingStep> merged;
  for (const TrainingStep& step : steps_) {
    if (!merged.empty() && step.begin_ps <= merged.back().end_ps) {
      TrainingStep& last = merged.back();
      if (last.number == step.number) {
        last.end_ps = std::max(last.end_ps, step.end_ps);
        continue;
      }
      last.end_ps = step.begin_ps;
    }
    merged.push_back(step);
  }
  merged.erase(std::remove_if(merged.begin(), merged.end(),
                              [](const TrainingStep& step) {
                                return step.number == kUnknownStep;
                              }),
               merged.end());
  for (TrainingStep& step : merged) {
    if (step.end_ps == kNoEnd) {
      step.end_ps = std::max(step.begin_ps, trace_end_ps);
    }
  }
  steps_.clear();
  return merged;
}

}  // namespace oom_forensics
