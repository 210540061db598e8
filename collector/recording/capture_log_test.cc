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

TEST(CaptureLogTest, RefusesWhatLiesBeyondTheCap) {
  CaptureLog log(10, 3);
  log.Write(WithSequence(12));
  EXPECT_EQ(log.dropped(0), 0u);
  log.Write(WithSequence(13));
  EXPECT_EQ(log.dropped(0), 1u);
  EXPECT_EQ(Sequences(log), (std::vector<uint64_t>{12}));
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
