#include "collector/live/usage_trend.h"

#include <algorithm>
#include <cmath>

namespace oom_forensics::collector {
namespace {

// Standard errors to either side of a 95 % confidence interval.
constexpr double kConfidence = 1.96;

}  // namespace

void UsageTrend::Add(int64_t time_ns, uint64_t in_use_bytes) {
  if (samples_.size() == kMaxSamples) samples_.pop_front();
  samples_.push_back(
      {static_cast<double>(time_ns) / 1e9, static_cast<double>(in_use_bytes)});
}

std::optional<double> UsageTrend::BytesPerSecond() const {
  const auto count = static_cast<double>(samples_.size());
  if (samples_.size() < kMinSamples) return std::nullopt;
  double mean_seconds = 0;
  double mean_bytes = 0;
  for (const Sample& sample : samples_) {
    mean_seconds += sample.seconds / count;
    mean_bytes += sample.bytes / count;
  }
  double square_seconds = 0;
  double product = 0;
  for (const Sample& sample : samples_) {
    const double seconds = sample.seconds - mean_seconds;
    square_seconds += seconds * seconds;
    product += seconds * (sample.bytes - mean_bytes);
  }
  if (square_seconds <= 0) return std::nullopt;
  const double slope = product / square_seconds;
  double residual = 0;
  for (const Sample& sample : samples_) {
    const double expected =
        mean_bytes + slope * (sample.seconds - mean_seconds);
    residual += (sample.bytes - expected) * (sample.bytes - expected);
  }
  const double error = std::sqrt(residual / (count - 2) / square_seconds);
  if (slope - kConfidence * error <= 0) return std::nullopt;
  return slope;
}

std::optional<double> UsageTrend::SecondsUntil(uint64_t limit_bytes) const {
  const std::optional<double> slope = BytesPerSecond();
  if (!slope.has_value() || limit_bytes == 0) return std::nullopt;
  const double left = static_cast<double>(limit_bytes) - samples_.back().bytes;
  return std::max(left, 0.0) / *slope;
}

}  // namespace oom_forensics::collector
