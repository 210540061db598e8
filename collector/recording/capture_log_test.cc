#include "collector/recording/capture_log.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace oom_forensics::collector {
namespace {

Event WithSequence(uint64_t sequence) {
  Event event;
  event.sequence = sequence;
  return event;
}

std::vector<uint64_t> Sequences(const CaptureLog& log) {
  std::vector<uint64_t> sequences;
  log.ForEach([&](const Event& event) { sequences.push_back(event.sequence); });
  return sequences;
}

TEST(CaptureLogTest, KeepsEventsInOrderOfSequenceNotOfWriting) {
  CaptureLog log(100, 50'000);
  log.Write(WithSequence(40'000));
  log.Write(WithSequence(101));
  log.Write(WithSequence(100));
  EXPECT_EQ(Sequences(log), (std::vector<uint64_t>{100, 101, 40'000}));
}

TEST(CaptureLogTest, KeepsTheEndOfMoreThanItHolds) {
  CaptureLog log(10, 3);
  for (uint64_t sequence = 10; sequence <= 12; ++sequence) {
    log.Write(WithSequence(sequence));
  }
  EXPECT_FALSE(log.overflowed());
  log.Write(WithSequence(14));
  log.Write(WithSequence(15));
  // It took its sequence a turn ago.
  log.Write(WithSequence(11));
  EXPECT_TRUE(log.overflowed());
  EXPECT_EQ(Sequences(log), (std::vector<uint64_t>{14, 15}));
  std::vector<uint64_t> backwards;
  log.ForEachBackwards(
      [&](const Event& event) { backwards.push_back(event.sequence); });
  EXPECT_EQ(backwards, (std::vector<uint64_t>{15, 14}));
}

TEST(CaptureLogTest, LosesNothingOfManyThreads) {
  constexpr uint64_t kEvents = 100'000;
  CaptureLog log(1, kEvents);
  std::vector<std::thread> threads;
  for (uint64_t first = 1; first <= 4; ++first) {
    threads.emplace_back([&log, first] {
      for (uint64_t i = first; i <= kEvents; i += 4) {
        log.Write(WithSequence(i));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Sequences(log).size(), kEvents);
}

}  // namespace
}  // namespace oom_forensics::collector
