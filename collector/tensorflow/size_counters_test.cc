#include "collector/tensorflow/size_counters.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace oom_forensics::collector {
namespace {

TEST(SizeCountersTest, TellNothingBeforeTheFirstBlock) {
  SizeCounters counters;
  EXPECT_FALSE(counters.Read().has_value());
}

TEST(SizeCountersTest, AreExactWhoeverFrees) {
  constexpr int kThreads = 40;
  constexpr int kBlocks = 1000;
  SizeCounters counters;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&counters] {
      for (int block = 0; block < kBlocks; ++block) counters.Add(100);
    });
  }
  for (std::thread& thread : threads) thread.join();
  counters.Add(5 << 20);
  auto statistics = counters.Read();
  EXPECT_EQ(statistics->num_allocs, kThreads * kBlocks + 1u);
  EXPECT_EQ(statistics->bytes_in_use, kThreads * kBlocks * 100u + (5 << 20));
  EXPECT_EQ(statistics->largest_alloc_bytes, 5u << 20);
  // All by one thread, which made few of them.
  for (int i = 0; i < kThreads * kBlocks; ++i) counters.Remove(100);
  statistics = counters.Read();
  EXPECT_EQ(statistics->bytes_in_use, 5u << 20);
  EXPECT_GE(statistics->peak_bytes_in_use, 7u << 20);
  EXPECT_LE(statistics->peak_bytes_in_use,
            kThreads * kBlocks * 100u + (5 << 20));
}

}  // namespace
}  // namespace oom_forensics::collector
