// Threads that fail together, and a heap that fails at every allocation in
// turn.
#include "collector/flight_recorder/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
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
#include "proto/event_schema.h"

namespace oom_forensics::collector {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Longer than a report takes.
constexpr int64_t kWaitedNs = 10'000'000'000;

class FlightRecorderTest : public testing::Test {
 protected:
  FlightRecorderTest()
      : logdir_(fs::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()),
        recorder_(Settings{}),
        flight_recorder_({&recorder_, [this] { return States(); },
                          [this] {
                            std::this_thread::sleep_for(hangs_);
                            if (fails_after_ >= 0) {
                              test::FailHeapAfter(fails_after_);
                            }
                            return SessionFacts();
                          },
                          [this] { return settings_; }}) {
    fs::remove_all(logdir_);
    settings_.logdir = logdir_;
    settings_.max_reports = 2;
  }

  std::vector<AllocatorState> States() const {
    AllocatorState state;
    state.info.name = "pool";
    state.info.kind = "bfc";
    state.info.has_layout = has_layout_;
    return {state};
  }

  // What the hook does when a request of the op is refused.
  RefusedRequest Refuse(const std::string& op, const std::string& shape,
                        int64_t waited_ns = 0,
                        const AllocatorStatistics& statistics = {}) {
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
    failure.statistics = statistics;
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
  bool has_layout_ = true;
  // In the incident's own thread.
  milliseconds hangs_{0};
  int fails_after_ = -1;
  Recorder recorder_;
  FlightRecorder flight_recorder_;
};

// What stands for Python: a C function, as ctypes makes one.
struct Python {
  std::atomic<FlightRecorder*> recorder{nullptr};
  std::atomic<int> questions{0};
  // It answers once so many requests were refused, or after so long.
  uint64_t awaits = 0;
  milliseconds takes{0};
};
Python g_python;

void Look(const char* question) {
  FlightRecorder* const recorder = g_python.recorder;
  ++g_python.questions;
  const auto end = steady_clock::now() + std::chrono::seconds(4);
  while (recorder->count() < g_python.awaits && steady_clock::now() < end) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  std::this_thread::sleep_for(g_python.takes);
  const std::string text = question;
  const size_t id = text.find("\"incident\":") + 11;
  recorder->evidence().Add(std::strtoull(text.c_str() + id, nullptr, 10),
                           "found by Python");
}

class EvidenceTest : public FlightRecorderTest {
 protected:
  EvidenceTest() {
    g_python.recorder = &flight_recorder_;
    g_python.questions = 0;
    g_python.awaits = 0;
    g_python.takes = milliseconds(0);
    flight_recorder_.evidence().SetLook(&Look);
  }
  // Threads of its own must not outlive what they look at.
  ~EvidenceTest() override { flight_recorder_.StopEvidence(); }

  // How long the refused request is held.
  milliseconds Held(const RefusedRequest& refused) {
    const auto begin = steady_clock::now();
    flight_recorder_.OnOutOfMemory(refused);
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() -
                                                    begin);
  }
};

TEST_F(EvidenceTest, ThreadsThatFailTogetherAreOneIncidentAndAllAreInIt) {
  g_python.awaits = 8;
  std::vector<std::thread> threads;
  std::atomic<int> without{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([this, i, &without] {
      flight_recorder_.OnOutOfMemory(
          Refuse("op_" + std::to_string(i), "[" + std::to_string(i) + "]"));
      // It goes on when all is on disk, not before.
      const std::string trace = Read(Traces().at(0));
      if (trace.find("found by Python") == std::string::npos) ++without;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(without, 0);
  EXPECT_EQ(flight_recorder_.count(), 8u);
  ASSERT_EQ(Traces().size(), 1u);
  const std::string trace = Read(Traces().front());
  for (int i = 0; i < 8; ++i) {
    EXPECT_NE(trace.find("op_" + std::to_string(i)), std::string::npos) << i;
  }
}

TEST_F(EvidenceTest, ATraceIsNotReplacedByOneThatLacksItsFailure) {
  g_python.awaits = 2;
  std::thread first(
      [this] { flight_recorder_.OnOutOfMemory(Refuse("first", "[1]")); });
  while (g_python.questions == 0) std::this_thread::sleep_for(milliseconds(1));
  // Meanwhile the other threads go on, until nothing is kept of that moment.
  const SiteId site = recorder_.sites().Intern(SiteKey())->id;
  for (uint64_t i = 1; i <= settings_.allocation_log_buffer_size; ++i) {
    const auto* const address = reinterpret_cast<const void*>(i << 8);
    recorder_.RecordAlloc(0, address, site, 1, 1);
    recorder_.RecordFree(0, address, 1);
  }
  flight_recorder_.OnOutOfMemory(Refuse("second", "[2]"));
  first.join();
  ASSERT_EQ(Traces().size(), 1u);
  EXPECT_NE(Read(Traces().front()).find("first"), std::string::npos);
}

TEST_F(EvidenceTest, WhatPythonFindsIsOnDiskBeforeTheRefusalReturns) {
  flight_recorder_.OnOutOfMemory(Refuse("op", "[8,16]"));
  EXPECT_NE(Read(Traces().at(0)).find("found by Python"), std::string::npos);
  EXPECT_EQ(Read(Traces().at(0)).find(schema::kEvidencePlane),
            std::string::npos)
      << "nothing is missing";
}

TEST_F(EvidenceTest, ARequestThatWaitsIsLookedAtMeanwhile) {
  g_python.takes = milliseconds(300);
  RefusedRequest request = Refuse("op", "[1]", kWaitedNs);
  ASSERT_NE(flight_recorder_.OnWait(request), 0u);
  std::this_thread::sleep_for(milliseconds(2000));
  EXPECT_EQ(g_python.questions, 1);
  EXPECT_TRUE(Traces().empty());
  EXPECT_LT(Held(request), milliseconds(250)) << "Python has answered already";
  EXPECT_NE(Read(Traces().at(0)).find("found by Python"), std::string::npos);
}

TEST_F(EvidenceTest, WhoGetsMemoryAfterAllLeavesNothingBehind) {
  const uint64_t wait = flight_recorder_.OnWait(Refuse("op", "[1]"));
  std::this_thread::sleep_for(milliseconds(1500));
  flight_recorder_.OnWaitOver(wait);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(g_python.questions, 1);
  EXPECT_TRUE(Traces().empty());
  EXPECT_EQ(flight_recorder_.count(), 0u);
  flight_recorder_.OnOutOfMemory(Refuse("later", "[2]"));
  EXPECT_NE(Read(Traces().at(0)).find("later"), std::string::npos);
}

TEST_F(EvidenceTest, NoRequestIsHeldLongerThanSaidAndTheNativeHalfIsThere) {
  settings_.max_hold_seconds = 1;
  g_python.takes = milliseconds(2500);
  EXPECT_LT(Held(Refuse("op", "[1]")), milliseconds(1400));
  EXPECT_NE(Read(Traces().at(0)).find("op"), std::string::npos);
  EXPECT_NE(Read(Traces().at(0)).find("did not answer in time"),
            std::string::npos);
}

TEST_F(EvidenceTest, ADiskThatHangsHoldsOneRequestOnceAndNoOtherAtAll) {
  settings_.max_hold_seconds = 1;
  hangs_ = milliseconds(2500);
  EXPECT_LT(Held(Refuse("op", "[1]")), milliseconds(1400));
  EXPECT_LT(Held(Refuse("op", "[2]")), milliseconds(200));
  EXPECT_LT(Held(Refuse("op", "[3]")), milliseconds(200));
}

TEST_F(FlightRecorderTest, ALaterRefusalLeavesTheFirstIncidentsTraceAlone) {
  flight_recorder_.OnOutOfMemory(Refuse("first", "[8,16]"));
  ASSERT_EQ(Traces().size(), 1u);
  const std::string trace = Read(Traces().front());
  // The recorder's memory holds other events by now.
  const uint32_t site = recorder_.sites().Intern(SiteKey())->id;
  for (uint64_t i = 0; i < 2 * settings_.allocation_log_buffer_size; ++i) {
    recorder_.RecordAlloc(0, reinterpret_cast<void*>(4096 + 256 * (i % 64)),
                          site, 1, 1);
    recorder_.RecordFree(0, reinterpret_cast<void*>(4096 + 256 * (i % 64)), 1);
  }
  for (int i = 0; i < 5; ++i) {
    flight_recorder_.OnOutOfMemory(Refuse("second", "[32]", kWaitedNs));
  }
  ASSERT_EQ(Traces().size(), 1u);
  EXPECT_TRUE(Read(Traces().front()) == trace);
}

TEST_F(FlightRecorderTest, ThreadsThatAreRefusedAgainAndAgainAreAllLetGo) {
  settings_.max_reports = 5;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this] {
      for (int i = 0; i < 50; ++i) {
        flight_recorder_.OnOutOfMemory(Refuse("op", "[1]"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(flight_recorder_.count(), 200u);
  EXPECT_LE(Traces().size(), 5u);
}

TEST_F(FlightRecorderTest, TheStoryOfAnErrorIsThatOfItsOwnRequest) {
  flight_recorder_.OnOutOfMemory(Refuse("first", "[8,16]"));
  flight_recorder_.OnOutOfMemory(Refuse("second", "[32]", kWaitedNs));
  const auto story_of = [this](const std::string& shape) {
    const std::string story = flight_recorder_.stories().SummaryFor(
        "OOM when allocating tensor with shape" + shape +
        " and type float on /device:CPU:0 by allocator pool");
    return story.substr(0, story.find(' '));
  };
  EXPECT_EQ(story_of("[8,16]"), "first");
  EXPECT_EQ(story_of("[32]"), "second");
  EXPECT_EQ(story_of("[1,2,3]"), "second") << "the last one";
}

TEST_F(FlightRecorderTest, OneIncidentSpendsOneReport) {
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

TEST_F(FlightRecorderTest, AStepThatIsRefusedAgainAndAgainIsOneIncident) {
  const auto refuse = [this](int64_t step_id) {
    RefusedRequest request = Refuse("op", "[1]");
    request.step_id = step_id;
    std::this_thread::sleep_for(milliseconds(20));
    flight_recorder_.OnOutOfMemory(request);
  };
  for (int i = 0; i < 5; ++i) refuse(-7);
  EXPECT_EQ(Traces().size(), 1u);
  refuse(8);
  EXPECT_EQ(Traces().size(), 2u) << "another step";
}

TEST_F(FlightRecorderTest, WhoWatchesLeavesTheProcesssOwnReportAlone) {
  flight_recorder_.OnOutOfMemory(Refuse("op", "[1]"));
  const std::string run = flight_recorder_.stories().LastRun();
  EXPECT_NE(run, "");
  std::string error;
  const fs::path folder = logdir_ / "elsewhere";
  EXPECT_NE(flight_recorder_.SnapshotForWatcher(folder, &error), "") << error;
  EXPECT_EQ(Traces(folder).size(), 1u);
  EXPECT_EQ(flight_recorder_.stories().LastRun(), run);
  EXPECT_EQ(flight_recorder_.written_runs().TakeJson().find("elsewhere"),
            std::string::npos);
}

TEST_F(FlightRecorderTest, EachRefusalIsCountedByItsIncidentsVerdict) {
  // Its limit tells all that there is to tell.
  has_layout_ = false;
  AllocatorStatistics full;
  full.limit_bytes = full.bytes_in_use = 1 << 20;
  flight_recorder_.OnOutOfMemory(Refuse("a", "[1]", 0, full));
  // Of the same incident.
  flight_recorder_.OnOutOfMemory(Refuse("b", "[2]", kWaitedNs, full));
  std::this_thread::sleep_for(milliseconds(20));
  flight_recorder_.OnOutOfMemory(Refuse("numbers are missing", "[3]"));
  std::this_thread::sleep_for(milliseconds(20));
  flight_recorder_.OnOutOfMemory(Refuse("beyond max_reports", "[4]", 0, full));
  EXPECT_THAT(flight_recorder_.CountByVerdict(),
              testing::ElementsAre(testing::Pair("CAPACITY", 2),
                                   testing::Pair("UNKNOWN", 2)));
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
    // In the incident's thread, and in the one whose request was refused.
    fails_after_ = allowed;
    flight_recorder_.OnOutOfMemory(refused);
    reported = flight_recorder_.written_runs().TakeJson() != "[]";
    fails_after_ = -1;
    test::FailHeapAfter(allowed);
    flight_recorder_.OnOutOfMemory(refused);
    test::MendHeap();
    flight_recorder_.written_runs().TakeJson();
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
