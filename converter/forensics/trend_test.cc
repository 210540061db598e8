#include "converter/forensics/trend.h"

#include <random>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

std::vector<double> Steps(size_t count) {
  std::vector<double> steps;
  for (size_t i = 0; i < count; ++i) steps.push_back(static_cast<double>(i));
  return steps;
}

TEST(TrendTest, ALineHasItsSlopeWithoutDoubt) {
  const auto trend = FitTrend(Steps(10), {1, 4, 7, 10, 13, 16, 19, 22, 25, 28});
  ASSERT_TRUE(trend);
  EXPECT_DOUBLE_EQ(trend->slope, 3);
  EXPECT_DOUBLE_EQ(trend->slope_low, 3);
  EXPECT_DOUBLE_EQ(trend->slope_high, 3);
  EXPECT_EQ(trend->since, 0u);
}

TEST(TrendTest, StepsThatAreNotEvenlySpacedCount) {
  const auto trend = FitTrend({0, 10, 11, 30, 100}, {0, 20, 22, 60, 200});
  ASSERT_TRUE(trend);
  EXPECT_DOUBLE_EQ(trend->slope, 2);
}

TEST(TrendTest, AConstantDoesNotGrow) {
  const auto trend = FitTrend(Steps(8), std::vector<double>(8, 5e9));
  ASSERT_TRUE(trend);
  EXPECT_DOUBLE_EQ(trend->slope, 0);
  EXPECT_DOUBLE_EQ(trend->slope_low, 0);
  EXPECT_DOUBLE_EQ(trend->slope_high, 0);
}

TEST(TrendTest, ACacheThatFillsOnceIsNotAGrowth) {
  const auto trend =
      FitTrend(Steps(12), {0, 0, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64});
  ASSERT_TRUE(trend);
  EXPECT_LE(trend->slope_low, 0);
  EXPECT_DOUBLE_EQ(trend->slope, 0);
}

TEST(TrendTest, NoiseWithoutGrowthHasZeroInItsInterval) {
  std::mt19937 random(3);
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) values.push_back(random() % 1000);
  const auto trend = FitTrend(Steps(60), values);
  ASSERT_TRUE(trend);
  EXPECT_LT(trend->slope_low, 0);
  EXPECT_GT(trend->slope_high, 0);
}

TEST(TrendTest, OutliersDoNotHideAGrowth) {
  std::vector<double> values = Steps(30);
  for (const size_t outlier : {3, 9, 15, 21}) values[outlier] = 5000;
  const auto trend = FitTrend(Steps(30), values);
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->slope, 1, 0.05);
  EXPECT_GT(trend->slope_low, 0.5);
}

TEST(TrendTest, TheIntervalHoldsTheTruthAboutAsOftenAsItSays) {
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 20);
  int held = 0;
  constexpr int kRounds = 400;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> values;
    for (const double step : Steps(25))
      values.push_back(7 * step + noise(random));
    const auto trend = FitTrend(Steps(25), values);
    ASSERT_TRUE(trend);
    held += trend->slope_low <= 7 && 7 <= trend->slope_high;
  }
  EXPECT_GE(held, kRounds * 92 / 100);
  EXPECT_LE(held, kRounds * 99 / 100);
}

TEST(TrendTest, GrowthThatBeginsLaterIsDatedFromThere) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i)
    values.push_back(i < 25 ? 100 : 100 + 8 * (i - 25));
  const auto trend = FitTrend(Steps(40), values);
  ASSERT_TRUE(trend);
  EXPECT_EQ(trend->since, 25u);
}

TEST(TrendTest, LongSeriesAreThinnedAndKeepTheirEnds) {
  std::vector<double> values;
  const std::vector<double> steps = Steps(100000);
  for (const double step : steps)
    values.push_back(step < 50000 ? 0 : step - 50000);
  const auto trend = FitTrend(steps, values);
  ASSERT_TRUE(trend);
  EXPECT_GT(trend->slope, 0);
  const double spacing = 100000.0 / static_cast<double>(kMaxTrendPoints);
  EXPECT_NEAR(static_cast<double>(trend->since), 50000, spacing);
}

TEST(TrendTest, TooFewPointsSayNothing) {
  EXPECT_FALSE(FitTrend(Steps(3), {1, 2, 3}));
  EXPECT_FALSE(FitTrend(Steps(5), {1, 2, 3, 4}));
}

}  // namespace
}  // namespace oom_forensics
