#include "collector/cupti/clock_converter.h"

#include <cupti.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

namespace oom_forensics::cupti {
namespace {

// A clock that answers the given times, one after the other.
ClockConverter::Clock Answers(std::vector<int64_t> times) {
  return [times, next = size_t{0}](int64_t* now_ns) mutable {
    if (next == times.size()) return false;
    *now_ns = times[next++];
    return true;
  };
}

TEST(ClockConverterTest, TakesTheMiddleOfThePairAndStatesHalfItsWidth) {
  ClockConverter converter;
  ASSERT_TRUE(converter.AddPair(Answers({1000, 1020}), Answers({400}),
                                /*attempts=*/1));
  EXPECT_EQ(converter.ToCollector(400), 1010);
  EXPECT_EQ(converter.ToCollector(500), 1110);
  EXPECT_EQ(converter.error_ns(), 10);
}

TEST(ClockConverterTest, KeepsTheTightestOfSeveralPairs) {
  ClockConverter converter;
  ASSERT_TRUE(converter.AddPair(Answers({1000, 1900, 2000, 2004, 3000, 3500}),
                                Answers({100, 1001, 2100}), /*attempts=*/3));
  EXPECT_EQ(converter.ToCollector(1001), 2002);
  EXPECT_EQ(converter.error_ns(), 2);
}

TEST(ClockConverterTest, TakesOutADriftBetweenTwoPairs) {
  ClockConverter converter;
  ASSERT_TRUE(converter.AddPair(Answers({10'000, 10'000}), Answers({0}), 1));
  ASSERT_TRUE(
      converter.AddPair(Answers({111'000, 111'000}), Answers({100'000}), 1));
  EXPECT_EQ(converter.ToCollector(0), 10'000);
  EXPECT_EQ(converter.ToCollector(50'000), 60'500);
  EXPECT_EQ(converter.ToCollector(100'000), 111'000);
}

TEST(ClockConverterTest, UsesTheNearerPairOutsideOfBoth) {
  ClockConverter converter;
  ASSERT_TRUE(converter.AddPair(Answers({1000, 1000}), Answers({500}), 1));
  ASSERT_TRUE(converter.AddPair(Answers({2100, 2100}), Answers({1500}), 1));
  EXPECT_EQ(converter.ToCollector(400), 900);
  EXPECT_EQ(converter.ToCollector(1600), 2200);
}

TEST(ClockConverterTest, StatesTheLargerErrorOfTheTwoPairs) {
  ClockConverter converter;
  ASSERT_TRUE(converter.AddPair(Answers({1000, 1100}), Answers({500}), 1));
  ASSERT_TRUE(converter.AddPair(Answers({2000, 2010}), Answers({1500}), 1));
  EXPECT_EQ(converter.error_ns(), 50);
}

TEST(ClockConverterTest, IgnoresAPairDuringWhichTheClockWasSetBack) {
  ClockConverter converter;
  ASSERT_TRUE(converter.AddPair(Answers({5000, 1000, 1010, 1030}),
                                Answers({400, 500}), 2));
  EXPECT_EQ(converter.ToCollector(500), 1020);
}

TEST(ClockConverterTest, IsNotCalibratedByAClockThatCannotBeRead) {
  ClockConverter converter;
  EXPECT_FALSE(converter.AddPair(Answers({1000}), Answers({}), 1));
  EXPECT_FALSE(converter.calibrated());
  EXPECT_EQ(converter.ToCollector(123), 123);
}

// The real CUPTI answers its clock without a GPU.
TEST(ClockConverterTest, FollowsTheClockOfTheRealCupti) {
  void* library = dlopen(std::getenv("LIBCUPTI"), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto get_timestamp = reinterpret_cast<decltype(&cuptiGetTimestamp)>(
      dlsym(library, "cuptiGetTimestamp"));
  const ClockConverter::Clock cupti = [&](int64_t* now_ns) {
    uint64_t now = 0;
    if (get_timestamp(&now) != CUPTI_SUCCESS) return false;
    *now_ns = static_cast<int64_t>(now);
    return true;
  };
  ClockConverter converter;
  ASSERT_TRUE(converter.AddPair(ReadCollectorClock, cupti));
  ASSERT_TRUE(converter.AddPair(ReadCollectorClock, cupti));

  // The stated error is checked, not the luck of one reading: a converted
  // reading must lie between two of the collector, give or take that error.
  int64_t before = 0;
  int64_t between = 0;
  int64_t after = 0;
  ASSERT_TRUE(ReadCollectorClock(&before));
  ASSERT_TRUE(cupti(&between));
  ASSERT_TRUE(ReadCollectorClock(&after));
  EXPECT_GE(converter.ToCollector(between), before - converter.error_ns());
  EXPECT_LE(converter.ToCollector(between), after + converter.error_ns());
  EXPECT_LT(converter.error_ns(), 1'000'000);
}

}  // namespace
}  // namespace oom_forensics::cupti
