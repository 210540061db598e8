// Runs of many hosts: read several at a time, within a limit, in their order.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "converter/run/memory_budget.h"
#include "converter/run/run.h"
#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::TraceBuilder;

constexpr int kHosts = 60;

class ManyHosts : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / "many_hosts";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    for (int i = 0; i < kHosts; ++i) {
      const std::string path =
          folder_ / absl::StrFormat("host%03d.xplane.pb", i);
      TraceBuilder trace;
      // Each has as many allocations as its number says, and one more.
      for (int n = 0; n <= i; ++n) {
        trace.Alloc(0x100000 + 0x1000 * static_cast<uint64_t>(n),
                    {"op", "", 1, 256, 0});
      }
      std::ofstream(path, std::ios::binary) << trace.Serialize();
      files_.paths.push_back(path);
    }
    files_.run_name = "run";
  }

  std::filesystem::path folder_;
  TraceFiles files_;
};

TEST_F(ManyHosts, AreInTheOrderOfTheirFiles) {
  RunOptions options;
  options.threads = 4;
  const auto run = Run::Open(files_, options);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ((*run)->hosts().size(), static_cast<size_t>(kHosts));
  for (int i = 0; i < kHosts; ++i) {
    const HostSummary& host = (*run)->hosts()[static_cast<size_t>(i)];
    EXPECT_EQ(host.host, absl::StrFormat("host%03d", i));
    EXPECT_EQ(host.allocators.at(0).info.alloc_count(),
              static_cast<uint64_t>(i) + 1);
  }
}

TEST_F(ManyHosts, ReportProgressThatGrowsToOne) {
  RunOptions options;
  options.threads = 4;
  std::vector<double> reported;
  options.progress = [&reported](double part) { reported.push_back(part); };
  ASSERT_TRUE(Run::Open(files_, options).ok());
  ASSERT_FALSE(reported.empty());
  EXPECT_TRUE(std::is_sorted(reported.begin(), reported.end()));
  EXPECT_NEAR(reported.back(), 1.0, 1e-9);
}

TEST_F(ManyHosts, FailWithTheFirstFileThatCannotBeRead) {
  std::ofstream(files_.paths[0], std::ios::trunc) << "no trace";
  std::ofstream(files_.paths[40], std::ios::trunc) << "no trace either";
  RunOptions options;
  options.threads = 4;
  const auto run = Run::Open(files_, options);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.status().message().find("host000"), absl::string_view::npos)
      << run.status();
}

uint64_t ResidentBytes(const Run& run) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < run.hosts().size(); ++i) {
    bytes += run.Load(i)->ResidentBytes();
  }
  return bytes;
}

TEST_F(ManyHosts, StayInMemoryWhereTheLimitIsEnoughForAll) {
  const auto run = Run::Open(files_, RunOptions());
  ASSERT_TRUE(run.ok());
  const SharedHost first = (*run)->Load(0);
  ResidentBytes(**run);
  EXPECT_EQ((*run)->Load(0), first) << "not read again";
}

TEST_F(ManyHosts, AreDroppedAndReadAgainWhereItIsNot) {
  const auto all = Run::Open(files_, RunOptions());
  ASSERT_TRUE(all.ok());
  RunOptions options;
  options.threads = 4;
  // Far more than one host needs, and less than all of them.
  options.read.max_resident_bytes = ResidentBytes(**all) / 4;
  const auto run = Run::Open(files_, options);
  ASSERT_TRUE(run.ok()) << run.status();
  const std::weak_ptr<const HostAnalysis> first = (*run)->Load(0);
  for (size_t i = 0; i < (*run)->hosts().size(); ++i) {
    const SharedHost host = (*run)->Load(i);
    EXPECT_EQ(host->allocators().at(0)->alloc_count(), i + 1);
  }
  EXPECT_TRUE(first.expired()) << "the one that was not used for longest";
  EXPECT_TRUE((*run)->TakeLoadFailure().ok());
}

TEST_F(ManyHosts, ThatAreInUseTogetherMustFitTogether) {
  const auto all = Run::Open(files_, RunOptions());
  ASSERT_TRUE(all.ok());
  RunOptions options;
  options.read.max_resident_bytes = ResidentBytes(**all) / 4;
  const auto run = Run::Open(files_, options);
  ASSERT_TRUE(run.ok());
  std::vector<SharedHost> in_use;
  for (size_t i = 0; i < (*run)->hosts().size(); ++i) {
    in_use.push_back((*run)->Load(i));
  }
  EXPECT_NE((*run)->TakeLoadFailure().message().find("choose one with --host"),
            absl::string_view::npos);
  in_use.clear();
  EXPECT_EQ((*run)->Load(0)->allocators().at(0)->alloc_count(), 1u);
  EXPECT_TRUE((*run)->TakeLoadFailure().ok()) << "and none is lost for good";
}

TEST_F(ManyHosts, OneThatIsGoneIsSaidToBe) {
  const auto all = Run::Open(files_, RunOptions());
  ASSERT_TRUE(all.ok());
  RunOptions options;
  options.read.max_resident_bytes = ResidentBytes(**all) / 4;
  const auto run = Run::Open(files_, options);
  ASSERT_TRUE(run.ok()) << run.status();
  // So the first one is not in memory any more.
  ResidentBytes(**run);
  std::filesystem::remove(files_.paths[0]);
  const SharedHost host = (*run)->Load(0);
  EXPECT_EQ(host->allocators().at(0)->trace().row_count(), 0u);
  EXPECT_NE((*run)->TakeLoadFailure().message().find("host000"),
            absl::string_view::npos);
}

TEST(MemoryBudget, LetsAHostWaitUntilThereIsRoom) {
  MemoryBudget budget(1000, [](uint64_t) { return uint64_t{0}; });
  EXPECT_EQ(budget.Reserve(600), 1000u);
  std::thread other([&budget] {
    EXPECT_EQ(budget.Reserve(600), 900u);
    budget.Settle(600, 100);
  });
  budget.Settle(600, 100);
  other.join();
}

TEST(MemoryBudget, MakesRoomAtTheCostOfWhatIsHeld) {
  uint64_t asked_bytes = 0;
  MemoryBudget budget(1000, [&asked_bytes](uint64_t bytes) {
    asked_bytes = bytes;
    return uint64_t{800};
  });
  budget.Settle((budget.Reserve(800), 800), 800);
  EXPECT_EQ(asked_bytes, 0u);
  EXPECT_EQ(budget.Reserve(500), 1000u);
  EXPECT_EQ(asked_bytes, 300u);
}

TEST(MemoryBudget, LetsAHostThatIsAloneTakeTheRest) {
  MemoryBudget budget(1000, [](uint64_t) { return uint64_t{0}; });
  EXPECT_EQ(budget.Reserve(5000), 1000u);
  budget.Settle(5000, 900);
  EXPECT_EQ(budget.Reserve(5000), 100u);
  budget.Settle(5000, 0);
}

// An answer of 600 bytes.
struct Answer {
  uint64_t ResidentBytes() const { return 600; }
};

TEST(AnswerCache, CountsWhatItKeeps) {
  AnswerCache cache(2);
  const auto make = [] { return std::make_shared<const Answer>(); };
  cache.Get<Answer>("a", make);
  cache.Get<Answer>("a", make);
  EXPECT_EQ(cache.ResidentBytes(), 600u);
  cache.Get<Answer>("b", make);
  cache.Get<Answer>("c", make);
  EXPECT_EQ(cache.ResidentBytes(), 1200u) << "the least used is gone";
  cache.Clear();
  EXPECT_EQ(cache.ResidentBytes(), 0u);
}

TEST(MemoryBudget, CountsWhatGrowsWhileItIsHeld) {
  uint64_t asked_bytes = 0;
  MemoryBudget budget(1000, [&asked_bytes](uint64_t bytes) {
    asked_bytes = bytes;
    return uint64_t{100};
  });
  budget.Settle((budget.Reserve(800), 800), 800);
  EXPECT_TRUE(budget.Adjust(800, 1000));
  EXPECT_EQ(asked_bytes, 0u);
  EXPECT_TRUE(budget.Adjust(1000, 1100)) << "another one went";
  EXPECT_EQ(asked_bytes, 100u);
  EXPECT_FALSE(budget.Adjust(1000, 1300));
}

TEST_F(ManyHosts, WhatAHostKeepsForTheNextQuestionIsWithinTheLimitToo) {
  RunOptions options;
  const auto all = Run::Open(files_, options);
  ASSERT_TRUE(all.ok());
  options.read.max_resident_bytes = ResidentBytes(**all);
  const auto run = Run::Open(files_, options);
  ASSERT_TRUE(run.ok());
  const SharedHost host = (*run)->Load(0);
  struct Large {
    uint64_t bytes = 0;
    uint64_t ResidentBytes() const { return bytes; }
  };
  const auto keep = [&](uint64_t bytes) {
    host->cache().Get<Large>("large", [bytes] {
      return std::make_shared<const Large>(Large{bytes});
    });
  };
  keep(options.read.max_resident_bytes / 2);
  (*run)->Load(0);
  EXPECT_NE(host->cache().ResidentBytes(), 0u) << "others made room";
  host->DropAnswers();
  keep(options.read.max_resident_bytes * 2);
  (*run)->Load(0);
  EXPECT_EQ(host->cache().ResidentBytes(), 0u) << "too much, whoever goes";
}

TEST(MemoryBudget, WithoutALimitNobodyWaits) {
  MemoryBudget budget(0, nullptr);
  EXPECT_EQ(budget.Reserve(1u << 30), 0u);
  EXPECT_EQ(budget.Reserve(1u << 30), 0u);
  budget.Settle(1u << 30, 1u << 30);
}

}  // namespace
}  // namespace oom_forensics
