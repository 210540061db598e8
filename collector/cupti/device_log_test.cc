#include "collector/cupti/device_log.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace oom_forensics::cupti {
namespace {

TEST(DeviceLogTest, CountsWhatDoesNotFit) {
  DeviceLog log(/*capacity=*/2);
  for (uint64_t address : {1, 2, 3, 4, 5}) {
    DriverEvent event;
    event.address = address;
    log.Add(event);
  }
  const DeviceLog::Contents contents = log.Read();
  ASSERT_EQ(contents.events.size(), 2u);
  EXPECT_EQ(contents.events[1].address, 2u);
  EXPECT_EQ(contents.dropped_events, 3u);
}

TEST(DeviceLogTest, KeepsWhatCuptiDroppedApart) {
  DeviceLog log;
  log.CountDroppedByCupti(7);
  EXPECT_EQ(log.Read().dropped_by_cupti, 7u);
  EXPECT_EQ(log.Read().dropped_events, 0u);
}

TEST(DeviceLogTest, SaysAStringOnce) {
  DeviceLog log;
  const StringId first = log.Intern("/usr/lib/libcudnn.so.9");
  EXPECT_NE(first, 0u);
  EXPECT_EQ(log.Intern("/usr/lib/libcudnn.so.9"), first);
  EXPECT_NE(log.Intern("/usr/lib/libcublas.so.12"), first);
  EXPECT_EQ(log.Read().strings.at(first - 1), "/usr/lib/libcudnn.so.9");
}

TEST(DeviceLogTest, HasNoIdForNothing) {
  DeviceLog log;
  EXPECT_EQ(log.Intern(""), 0u);
}

TEST(DeviceLogTest, ForgetsEventsButNotStrings) {
  DeviceLog log;
  const StringId id = log.Intern("growth");
  log.Add({});
  log.CountUnreadable();
  log.CountDroppedByCupti(1);
  log.Clear();
  const DeviceLog::Contents contents = log.Read();
  EXPECT_TRUE(contents.events.empty());
  EXPECT_EQ(contents.dropped_events, 0u);
  EXPECT_EQ(contents.unreadable_records, 0u);
  EXPECT_EQ(contents.dropped_by_cupti, 0u);
  EXPECT_EQ(log.Intern("growth"), id);
}

TEST(DeviceLogTest, TakesEventsFromManyThreads) {
  DeviceLog log(/*capacity=*/3000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&log] {
      for (int event = 0; event < 1000; ++event) log.Add({});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const DeviceLog::Contents contents = log.Read();
  EXPECT_EQ(contents.events.size(), 3000u);
  EXPECT_EQ(contents.dropped_events, 1000u);
}

}  // namespace
}  // namespace oom_forensics::cupti
