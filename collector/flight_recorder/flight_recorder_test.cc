// Threads that fail together, and a heap that fails at every allocation in
// turn.
#include "collector/flight_recorder/flight_recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "collector/no_throw.h"
#include "collector/testing/failing_heap.h"

namespace oom_forensics::collector {
namespace {

namespace fs = std::filesystem;

class FlightRecorderTest : public testing::Test {
 protected:
  FlightRecorderTest()
      : logdir_(fs::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        recorder_(Settings{}),
        flight_recorder_({&recorder_, [] { return States(); },
                          [] { return SessionFacts(); },
                          [this] { return settings_; }}) {
    fs::remove_all(logdir_);
    settings_.logdir = logdir_;
    settings_.max_reports = 2;
  }

  static std::vector<AllocatorState> States() {
    AllocatorState state;
    state.info.name = "pool";
    state.info.kind = "bfc";
    return {state};
  }

  // What the hook does when a request of the op is refused.
  RefusedRequest Refuse(const std::string& op, const std::string& shape,
                        int64_t waited_ns = 0) {
    SiteKey key;
    key.op = op;
    key.shape = shape;
    key.requested_bytes = 4096;
    const Site* site = recorder_.sites().Intern(key);
    RefusedRequest refused;
    refused.sequence = recorder_.RecordFailure(0, site->id, 1, 1);
    refused.waited_ns = waited_ns;
    refused.site = site->key;
    Failure failure;
    failure.sequence = refused.sequence;
    failure.statistics = AllocatorStatistics{};
    recorder_.failures().Add(failure);
    return refused;
  }

  std::vector<fs::path> Traces() const { return Traces(logdir_); }
  static std::vector<fs::path> Traces(const fs::path& logdir) {
    std::vector<fs::path> traces;
    if (!fs::exists(logdir)) return traces;
    for (const auto& entry : fs::recursive_directory_iterator(logdir)) {
      if (entry.path().extension() == ".pb") traces.push_back(entry.path());
    }
    return traces;
  }

  static std::string Read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path logdir_;
  Settings settings_;
  Recorder recorder_;
  FlightRecorder flight_recorder_;
};

TEST_F(FlightRecorderTest, ThreadsThatFailTogetherAreOneIncidentAndAllAreInIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i] {
      // They have waited for longer than a report takes.
      constexpr int64_t kWaitedNs = 10'000'000'000;
      flight_recorder_.OnOutOfMemory(Refuse("op_" + std::to_string(i),
                                            "[" + std::to_string(i) + "]",
                                            i == 0 ? 0 : kWaitedNs));
    });
    // The first one is the incident's.
    if (i == 0) {
      threads.front().join();
      ASSERT_EQ(Traces().size(), 1u);
    }
  }
  for (size_t i = 1; i < threads.size(); ++i) threads[i].join();
  EXPECT_EQ(flight_recorder_.count(), 8u);
  ASSERT_EQ(Traces().size(), 1u);
  const std::string trace = Read(Traces().front());
  for (int i = 0; i < 8; ++i) {
    EXPECT_NE(trace.find("op_" + std::to_string(i)), std::string::npos) << i;
  }
}

TEST_F(FlightRecorderTest, TheStoryOfAnErrorIsThatOfItsOwnRequest) {
  constexpr int64_t kWaitedNs = 10'000'000'000;
  flight_recorder_.OnOutOfMemory(Refuse("first", "[8,16]"));
  flight_recorder_.OnOutOfMemory(Refuse("second", "[32]", kWaitedNs));
  const auto story_of = [this](const std::string& shape) {
    const std::string story = flight_recorder_.SummaryFor(
        "OOM when allocating tensor with shape" + shape +
        " and type float on /device:CPU:0 by allocator pool");
    return story.substr(0, story.find(' '));
  };
  EXPECT_EQ(story_of("[8,16]"), "first");
  EXPECT_EQ(story_of("[32]"), "second");
  EXPECT_EQ(story_of("[1,2,3]"), "second") << "the last one";
}

TEST_F(FlightRecorderTest, OneIncidentSpendsOneReport) {
  constexpr int64_t kWaitedNs = 10'000'000'000;
  flight_recorder_.OnOutOfMemory(Refuse("a", "[1]"));
  for (int i = 0; i < 5; ++i) {
    flight_recorder_.OnOutOfMemory(Refuse("b", "[2]", kWaitedNs));
  }
  // Later, and without having waited with the others.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  flight_recorder_.OnOutOfMemory(Refuse("c", "[3]"));
  EXPECT_EQ(Traces().size(), 2u);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  flight_recorder_.OnOutOfMemory(Refuse("d", "[4]"));
  EXPECT_EQ(Traces().size(), 2u) << "max_reports";
}

// Wherever memory ends, the job goes on: an exception that left the flight
// recorder would end this test.
TEST_F(FlightRecorderTest, SurvivesAHeapThatFailsAtEachAllocationInTurn) {
  settings_.max_reports = 1'000'000;
  // A thousand reports: in memory, where there is such a folder.
  const fs::path memory = "/dev/shm";
  if (fs::is_directory(memory)) {
    settings_.logdir = memory / ("oom_forensics_" + std::to_string(getpid()));
  }
  const fs::path logdir = settings_.logdir;
  for (uint64_t i = 0; i < 3; ++i) {
    SiteKey key;
    key.op = "layer";
    key.requested_bytes = 256 * (i + 1);
    recorder_.RecordAlloc(0, reinterpret_cast<void*>((i + 1) << 12),
                          recorder_.sites().Intern(key)->id, 1, 1);
  }
  RefusedRequest refused = Refuse("op", "[1]");
  // Later than any report: each time an incident of its own.
  refused.waited_ns = -1'000'000'000;
  bool reported = false;
  for (int allowed = 0; !reported; ++allowed) {
    test::FailHeapAfter(allowed);
    flight_recorder_.OnOutOfMemory(refused);
    reported = test::AllocationsLeft() > 0;
    test::MendHeap();
    // What is there is whole: the trace comes last, by a rename.
    for (const fs::path& trace : Traces(logdir)) {
      EXPECT_GT(fs::file_size(trace), 0u);
    }
    fs::remove_all(logdir);
    ASSERT_LT(allowed, 100'000);
  }
  std::string error;
  EXPECT_NE(flight_recorder_.Snapshot("", &error), "") << error;
  fs::remove_all(logdir);
}

TEST_F(FlightRecorderTest, ARecordingSurvivesAFailingHeapToo) {
  for (int allowed = 0;; ++allowed) {
    ASSERT_LT(allowed, 100'000);
    test::FailHeapAfter(allowed);
    const bool done = NoThrow([this] {
      recorder_.StartCapture(CaptureOwner::kPython);
      recorder_.RecordAlloc(0, reinterpret_cast<void*>(4096), 1, 1, 1);
      recorder_.RecordFree(0, reinterpret_cast<void*>(4096), 1);
      recorder_.StopCapture(CaptureOwner::kPython);
    });
    const bool enough = done && test::AllocationsLeft() > 0;
    test::MendHeap();
    recorder_.StopCapture(CaptureOwner::kPython);
    if (enough) break;
  }
}

}  // namespace
}  // namespace oom_forensics::collector
