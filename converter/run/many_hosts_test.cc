// Runs of many hosts: read several at a time, within a limit, in their order.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
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
    const HostAnalysis& host = *(*run)->hosts()[static_cast<size_t>(i)];
    EXPECT_EQ(host.trace().host, absl::StrFormat("host%03d", i));
    EXPECT_EQ(host.allocators().at(0)->alloc_count(),
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

TEST_F(ManyHosts, ShareOneLimit) {
  RunOptions options;
  options.threads = 4;
  const auto all = Run::Open(files_, options);
  ASSERT_TRUE(all.ok());
  uint64_t needed_bytes = 0;
  for (const auto& host : (*all)->hosts()) {
    needed_bytes += host->ResidentBytes();
  }
  // Far more than each host needs, and less than all of them.
  options.read.max_resident_bytes = needed_bytes / 2;
  const auto half = Run::Open(files_, options);
  ASSERT_FALSE(half.ok());
  EXPECT_NE(half.status().message().find("60 hosts need more than the limit"),
            absl::string_view::npos)
      << half.status();
  options.read.max_resident_bytes = needed_bytes * 10;
  EXPECT_TRUE(Run::Open(files_, options).ok());
}

TEST(MemoryBudget, LetsAHostWaitUntilThereIsRoom) {
  MemoryBudget budget(1000);
  EXPECT_EQ(budget.Reserve(600), 1000u);
  std::thread other([&budget] {
    EXPECT_EQ(budget.Reserve(600), 900u);
    budget.Settle(600, 100);
  });
  budget.Settle(600, 100);
  other.join();
  EXPECT_TRUE(budget.IsKept());
}

TEST(MemoryBudget, LetsAHostThatIsAloneTakeTheRest) {
  MemoryBudget budget(1000);
  EXPECT_EQ(budget.Reserve(5000), 1000u);
  budget.Settle(5000, 1001);
  EXPECT_FALSE(budget.IsKept());
}

TEST(MemoryBudget, WithoutALimitNobodyWaits) {
  MemoryBudget budget(0);
  EXPECT_EQ(budget.Reserve(1u << 30), 0u);
  EXPECT_EQ(budget.Reserve(1u << 30), 0u);
  budget.Settle(1u << 30, 1u << 30);
  EXPECT_TRUE(budget.IsKept());
}

}  // namespace
}  // namespace oom_forensics
