#include "collector/flight_recorder/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace oom_forensics::collector {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    logdir_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(logdir_);
  }

  // 2026-11-20 13:22:02 UTC
  static constexpr int64_t kTimeNs = 1795180922'000'000'000;
  fs::path logdir_;
  std::string error_;
};

TEST_F(RunFolderTest, IsNamedAsTensorFlowNamesRuns) {
  const auto folder = RunFolder::Make(logdir_, kTimeNs, "oom", &error_);
  ASSERT_TRUE(folder.has_value()) << error_;
  EXPECT_EQ(folder->path(),
            logdir_ / "plugins/profile/2026_11_20_13_22_02_oom");
}

TEST_F(RunFolderTest, DoesNotMixTwoRunsOfOneSecond) {
  const auto first = RunFolder::Make(logdir_, kTimeNs, "oom", &error_);
  const auto second = RunFolder::Make(logdir_, kTimeNs, "oom", &error_);
  ASSERT_TRUE(second.has_value()) << error_;
  EXPECT_EQ(second->path(), first->path() + "_2");
}

TEST_F(RunFolderTest, WritesAFileAndNothingElse) {
  const auto folder = RunFolder::Make(logdir_, kTimeNs, "oom", &error_);
  ASSERT_TRUE(folder->Write("host.xplane.pb", "bytes", &error_)) << error_;
  std::ifstream file(folder->path() + "/host.xplane.pb");
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(content, "bytes");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), {}), 1);
}

TEST_F(RunFolderTest, SaysWhyItCannotBeMade) {
  fs::create_directories(logdir_);
  std::ofstream(logdir_ / "file") << "x";
  EXPECT_FALSE(
      RunFolder::Make(logdir_ / "file", kTimeNs, "oom", &error_).has_value());
  EXPECT_NE(error_.find("Not a directory"), std::string::npos);
}

TEST_F(RunFolderTest, OfAUrlIsLocalAndKnowsWhereItBelongs) {
  fs::create_directories(logdir_);
  setenv("TMPDIR", logdir_.c_str(), 1);
  const auto folder =
      RunFolder::Make("gs://bucket/logs", kTimeNs, "oom", &error_);
  ASSERT_TRUE(folder.has_value()) << error_;
  EXPECT_EQ(folder->remote_logdir(), "gs://bucket/logs");
  EXPECT_EQ(folder->path().find(logdir_.string()), 0u);
  EXPECT_FALSE(fs::exists("gs:"));
}

TEST_F(RunFolderTest, OfAFolderIsInIt) {
  const auto folder = RunFolder::Make(logdir_, kTimeNs, "oom", &error_);
  ASSERT_TRUE(folder.has_value()) << error_;
  EXPECT_EQ(folder->remote_logdir(), "");
}

TEST_F(RunFolderTest, DefaultLogdirBelongsToTheUserAlone) {
  fs::create_directories(logdir_);
  setenv("TMPDIR", logdir_.c_str(), 1);
  const std::string folder = DefaultLogdir();
  ASSERT_FALSE(folder.empty());
  struct stat status;
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  // A link that someone has put there leads who knows where.
  fs::remove_all(folder);
  fs::create_symlink("/etc", folder);
  EXPECT_EQ(DefaultLogdir(), "");
  unsetenv("TMPDIR");
}

TEST_F(RunFolderTest, EightProcessesDoNotDeleteEachOthersFirstRun) {
  fs::create_directories(logdir_);
  setenv("TMPDIR", logdir_.c_str(), 1);
  const fs::path profiles = fs::path(DefaultLogdir()) / "plugins/profile";
  std::vector<pid_t> processes;
  for (int process = 0; process < 8; ++process) {
    processes.push_back(fork());
    if (processes.back() != 0) continue;
    for (int64_t i = 0; i < 5; ++i) {
      const auto run = RunFolder::Make(
          DefaultLogdir(), kTimeNs + i * 1'000'000'000, "oom", &error_);
      if (!run.has_value() ||
          !run->Write(std::to_string(i) + ".pb", std::to_string(i), &error_)) {
        _exit(1);
      }
    }
    _exit(0);
  }
  for (const pid_t process : processes) {
    int status = 0;
    waitpid(process, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int firsts = 0;
  for (const auto& entry : fs::recursive_directory_iterator(profiles)) {
    if (entry.path().filename() == "0.pb") ++firsts;
  }
  EXPECT_EQ(firsts, 8);
  unsetenv("TMPDIR");
}

TEST_F(RunFolderTest, DefaultLogdirKeepsTheLastRunsAndTheFirst) {
  fs::create_directories(logdir_);
  setenv("TMPDIR", logdir_.c_str(), 1);
  const std::string folder = DefaultLogdir();
  // A process that has none yet.
  const pid_t process = fork();
  if (process == 0) {
    for (int64_t i = 0; i < 30; ++i) {
      const auto run =
          RunFolder::Make(folder, kTimeNs + i * 1'000'000'000, "oom", &error_);
      if (!run->Write("host.xplane.pb", "x", &error_)) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
  ASSERT_EQ(status, 0);
  DefaultLogdir();
  const fs::path profiles = fs::path(folder) / "plugins/profile";
  EXPECT_EQ(std::distance(fs::directory_iterator(profiles), {}), 21);
  EXPECT_TRUE(fs::exists(profiles / "2026_11_20_13_22_31_oom"));
  EXPECT_TRUE(fs::exists(profiles / "2026_11_20_13_22_02_oom"));
  EXPECT_FALSE(fs::exists(profiles / "2026_11_20_13_22_03_oom"));
  unsetenv("TMPDIR");
}

}  // namespace
}  // namespace oom_forensics::collector
