#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "collector/live/live_server.h"
#include "collector/live/snapshot_triggers.h"
#include "collector/live/usage_trend.h"
#include "gtest/gtest.h"

namespace oom_forensics::collector {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// A socket that is connected to this process's server; -1: nobody listens.
int Connect(pid_t pid) {
  const int connected = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string name = "oom_forensics-" + std::to_string(pid);
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (connect(connected, reinterpret_cast<sockaddr*>(&address), size) == 0) {
    return connected;
  }
  close(connected);
  return -1;
}

std::string Ask(int connected, const std::string& request) {
  send(connected, request.data(), request.size(), 0);
  std::string answer;
  char byte;
  while (recv(connected, &byte, 1, 0) == 1 && byte != '\n') answer += byte;
  return answer;
}

TEST(LiveServerTest, AnswersLineByLineWhateverIsAsked) {
  // Threads of it go on until the process ends.
  static LiveServer* const server = new LiveServer;
  ASSERT_EQ(server->Start([](std::string_view request) {
    return "<" + std::string(request) + ">";
  }),
            "");
  const int first = Connect(getpid());
  const int second = Connect(getpid());
  ASSERT_GE(first, 0);
  EXPECT_EQ(Ask(first, "state\n"), "<state>");
  EXPECT_EQ(Ask(second, "a\nb\n"), "<a>");
  EXPECT_EQ(Ask(second, ""), "<b>");
  // Whoever sends no end of a line is sent away, and harms nobody.
  const std::string endless(8192, 'x');
  EXPECT_EQ(Ask(second, endless), "");
  EXPECT_EQ(Ask(first, "again\n"), "<again>");
  // One process has one server.
  EXPECT_EQ(LiveServer().Start([](std::string_view) { return ""; }),
            "Address already in use");

  // A child is not there in its parent's place, nor keeps its callers waiting.
  const pid_t child = fork();
  if (child == 0) {
    server->AfterForkInChild();
    _exit(Connect(getpid()) == -1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Ask(first, "still\n"), "<still>");
  close(first);
  close(second);
}

TEST(UsageTrendTest, TellsSteadyGrowthAndWhenItWillNotFit) {
  UsageTrend trend;
  for (int second = 0; second < 20; ++second) {
    trend.Add(second * kSecondNs, 1000 + 100 * static_cast<uint64_t>(second));
  }
  ASSERT_TRUE(trend.BytesPerSecond().has_value());
  EXPECT_NEAR(*trend.BytesPerSecond(), 100, 1e-6);
  // 2900 in use now.
  EXPECT_NEAR(*trend.SecondsUntil(3900), 10, 1e-6);
  EXPECT_EQ(*trend.SecondsUntil(2000), 0);
  EXPECT_FALSE(trend.SecondsUntil(0).has_value());
}

TEST(UsageTrendTest, UpsAndDownsWithinStepsAreNoGrowth) {
  UsageTrend trend;
  for (int second = 0; second < 60; ++second) {
    trend.Add(second * kSecondNs, second % 3 == 0 ? 5000 : 1000);
  }
  EXPECT_FALSE(trend.BytesPerSecond().has_value());
}

TEST(UsageTrendTest, AFewSamplesSayNothing) {
  UsageTrend trend;
  for (int second = 0; second < 7; ++second) {
    trend.Add(second * kSecondNs, 100 * static_cast<uint64_t>(second));
  }
  EXPECT_FALSE(trend.BytesPerSecond().has_value());
}

std::vector<AllocatorState> InUse(uint64_t bytes, uint64_t peak,
                                  uint64_t limit = 1000) {
  AllocatorState state;
  state.info.name = "pool";
  state.statistics = AllocatorStatistics();
  state.statistics->bytes_in_use = bytes;
  state.statistics->peak_bytes_in_use = peak;
  state.statistics->limit_bytes = limit;
  return {state};
}

TEST(SnapshotTriggersTest, NearTheLimitOnceUntilItGoesBack) {
  TriggerSettings settings;
  settings.limit_share = 0.9;
  SnapshotTriggers triggers;
  EXPECT_EQ(triggers.DueAt(settings, InUse(100, 800)), "");
  EXPECT_NE(triggers.DueAt(settings, InUse(100, 900)), "");
  EXPECT_EQ(triggers.DueAt(settings, InUse(100, 950)), "");
}

TEST(SnapshotTriggersTest, ANewPeakAFewTimesOnly) {
  TriggerSettings settings;
  settings.new_peak = true;
  SnapshotTriggers triggers;
  int fired = 0;
  for (uint64_t step = 0; step < 100; ++step) {
    fired += !triggers.DueAt(settings, InUse(0, 100 + 100 * step)).empty();
  }
  EXPECT_EQ(fired, SnapshotTriggers::kMaxOfKind);
}

TEST(SnapshotTriggersTest, GrowthInARowOfSteps) {
  TriggerSettings settings;
  settings.growth_steps = 3;
  SnapshotTriggers triggers;
  EXPECT_EQ(triggers.DueAt(settings, InUse(100, 0)), "");
  EXPECT_EQ(triggers.DueAt(settings, InUse(110, 0)), "");
  EXPECT_EQ(triggers.DueAt(settings, InUse(120, 0)), "");
  // Back again: it begins from nothing.
  EXPECT_EQ(triggers.DueAt(settings, InUse(100, 0)), "");
  EXPECT_EQ(triggers.DueAt(settings, InUse(110, 0)), "");
  EXPECT_EQ(triggers.DueAt(settings, InUse(120, 0)), "");
  EXPECT_NE(triggers.DueAt(settings, InUse(130, 0)), "");
}

}  // namespace
}  // namespace oom_forensics::collector
