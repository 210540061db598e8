#include "converter/forensics/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace oom_forensics {
namespace {

// Two-sided 95 % quantile of the standard normal distribution.
constexpr double kNormal95 = 1.959963984540054;

// Var(S) of Kendall's S over n points of which `ys` are the values, corrected
// for groups of equal values.
double KendallVariance(std::vector<double> ys) {
  const auto term = [](double n) { return n * (n - 1) * (2 * n + 5); };
  double sum = term(static_cast<double>(ys.size()));
  std::sort(ys.begin(), ys.end());
  for (size_t i = 0; i < ys.size();) {
    size_t j = i;
    while (j < ys.size() && ys[j] == ys[i]) ++j;
    sum -= term(static_cast<double>(j - i));
    i = j;
  }
  return sum / 18;
}

// Slopes between all pairs of points, in no order.
std::vector<double> PairSlopes(const std::vector<double>& x,
                               const std::vector<double>& y) {
  std::vector<double> slopes;
  slopes.reserve(x.size() * (x.size() - 1) / 2);
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = i + 1; j < x.size(); ++j) {
      slopes.push_back((y[j] - y[i]) / (x[j] - x[i]));
    }
  }
  return slopes;
}

// The median of some values and those of two ranks around it.
struct RankedValues {
  double low = 0;
  double median = 0;
  double high = 0;
};

// Ranks are clamped to those on their side of the median. Sorts no more than
// that needs, as there are a hundred thousand pairs at each of many sites.
RankedValues ValuesOfRanks(double low_rank, double high_rank,
                           std::vector<double>* values) {
  const auto begin = values->begin();
  const auto end = values->end();
  const auto middle = begin + (end - begin) / 2;
  const auto at = [begin](double rank, auto first, auto last) {
    return begin + static_cast<ptrdiff_t>(
                       std::clamp(rank, static_cast<double>(first - begin),
                                  static_cast<double>(last - begin)));
  };
  RankedValues ranked;
  std::nth_element(begin, middle, end);
  ranked.median = *middle;
  if (values->size() % 2 == 0) {
    ranked.median = (*std::max_element(begin, middle) + *middle) / 2;
  }
  const auto low = at(low_rank, begin, middle);
  if (low != middle) std::nth_element(begin, low, middle);
  ranked.low = *low;
  const auto high = at(high_rank, middle, end - 1);
  if (high != middle) std::nth_element(middle + 1, high, end);
  ranked.high = *high;
  return ranked;
}

// Squared error of the best hinge whose corner is at point `corner`.
double HingeError(const std::vector<double>& x, const std::vector<double>& y,
                  size_t corner) {
  const double n = static_cast<double>(x.size());
  double sum_u = 0, sum_uu = 0, sum_y = 0, sum_uy = 0, sum_yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double u = i > corner ? x[i] - x[corner] : 0;
    sum_u += u;
    sum_uu += u * u;
    sum_y += y[i];
    sum_uy += u * y[i];
    sum_yy += y[i] * y[i];
  }
  const double var_u = sum_uu - sum_u * sum_u / n;
  const double cov = sum_uy - sum_u * sum_y / n;
  const double var_y = sum_yy - sum_y * sum_y / n;
  return var_u > 0 ? var_y - cov * cov / var_u : var_y;
}

// The corner of the best hinge; of equally good ones the earliest.
size_t ChangePoint(const std::vector<double>& x, std::vector<double> y) {
  const double first = y.front();
  for (double& value : y) value -= first;
  size_t best = 0;
  double least = HingeError(x, y, 0);
  for (size_t corner = 1; corner + 2 < x.size(); ++corner) {
    const double error = HingeError(x, y, corner);
    if (error < least * (1 - 1e-9)) {
      least = error;
      best = corner;
    }
  }
  return best;
}

}  // namespace

std::optional<Trend> FitTrend(const std::vector<double>& x,
                              const std::vector<double>& y) {
  if (x.size() != y.size() || x.size() < kMinTrendPoints) return std::nullopt;
  std::vector<double> xs, ys;
  std::vector<size_t> index;
  const size_t points = std::min(x.size(), kMaxTrendPoints);
  for (size_t i = 0; i < points; ++i) {
    index.push_back(i * (x.size() - 1) / (points - 1));
    xs.push_back(x[index.back()]);
    ys.push_back(y[index.back()]);
  }
  std::vector<double> slopes = PairSlopes(xs, ys);
  const double pairs = static_cast<double>(slopes.size());
  const double reach = kNormal95 * std::sqrt(KendallVariance(ys));
  Trend trend;
  const RankedValues ranked =
      ValuesOfRanks(std::floor((pairs - reach) / 2) - 1,
                    std::ceil((pairs + reach) / 2), &slopes);
  trend.slope = ranked.median;
  trend.slope_low = ranked.low;
  trend.slope_high = ranked.high;
  trend.since = index[ChangePoint(xs, ys)];
  return trend;
}

}  // namespace oom_forensics
