// How a series of numbers grows from step to step: slope, its confidence, and
// since when.
//
// The slope is the Theil-Sen estimator (the median of the slopes between all
// pairs of points), its 95 % confidence interval Sen's, from the normal
// approximation of Kendall's S with correction for ties (P. K. Sen, "Estimates
// of the regression coefficient based on Kendall's tau", JASA 63, 1968). Both
// stand a third of outliers, such as a validation pass between the steps, which
// least squares would take for growth.
//
// The change point is where a flat line followed by a straight one ("hinge")
// fits best by least squares.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_TREND_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_TREND_H_

#include <cstddef>
#include <optional>
#include <vector>

namespace oom_forensics {

struct Trend {
  // Change of y per unit of x, and the 95 % confidence interval.
  double slope = 0;
  double slope_low = 0;
  double slope_high = 0;
  // Index of the last point before the growth: from it on y changes with x.
  size_t since = 0;
};

// Fewest points that a confidence interval says anything about.
inline constexpr size_t kMinTrendPoints = 4;
// Longer series are thinned out evenly to so many points, because the estimator
// looks at all pairs.
inline constexpr size_t kMaxTrendPoints = 200;

// The trend of y over x, which rises strictly. Nothing for fewer than
// kMinTrendPoints points or series of different lengths.
std::optional<Trend> FitTrend(const std::vector<double>& x,
                              const std::vector<double>& y);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_TREND_H_
