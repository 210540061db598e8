// A run of hundreds of hosts, of which only a few fit into memory at a time,
// answers as one that is in memory as a whole.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_format.h"
#include "converter/datasets/dataset.h"
#include "converter/testing/trace_builder.h"
#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

using test::TraceBuilder;

constexpr int kHosts = 200;
constexpr uint64_t kPool = 0x100000;
constexpr uint64_t kUnit = 256;

// One that uses a part of its pool that its number sets; each 50th runs out.
std::string MakeHost(int number) {
  TraceBuilder trace;
  trace.BaselineRegion(kPool, 1024 * kUnit).Step(1);
  for (uint64_t i = 0; i <= static_cast<uint64_t>(number); ++i) {
    trace.Alloc(kPool + i * kUnit, {"model/op", "[64]", 1, kUnit, 0});
  }
  trace.Step(2).Free(kPool);
  if (number % 50 == 0) {
    trace.Fail({"model/big", "", 1, 2048 * kUnit, 0}, {true, 1024 * kUnit, ""});
  }
  trace.EndStep();
  return trace.Serialize();
}

// gtest's fixtures have a Run of their own.
class ManyHostsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto folder =
        std::filesystem::path(::testing::TempDir()) / "many_hosts_datasets";
    std::filesystem::create_directories(folder);
    TraceFiles files;
    files.run_name = "run";
    for (int i = 0; i < kHosts; ++i) {
      files.paths.push_back(folder / absl::StrFormat("host%03d.xplane.pb", i));
      std::ofstream(files.paths.back(), std::ios::binary) << MakeHost(i);
    }
    all_ = *oom_forensics::Run::Open(files, RunOptions());
    uint64_t resident_bytes = 0;
    for (size_t i = 0; i < all_->hosts().size(); ++i) {
      resident_bytes += all_->Load(i)->ResidentBytes();
    }
    RunOptions options;
    options.threads = 4;
    options.read.max_resident_bytes = resident_bytes / 10;
    few_ = *oom_forensics::Run::Open(files, options);
  }

  static void TearDownTestSuite() {
    all_.reset();
    few_.reset();
  }

  static std::string Ask(const oom_forensics::Run& run, Query query,
                         DatasetKind dataset) {
    query.set_dataset(dataset);
    const auto answer = AnswerQuery({run, nullptr, query});
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? (*answer)->SerializeAsString() : "";
  }

  static std::unique_ptr<oom_forensics::Run> all_;
  static std::unique_ptr<oom_forensics::Run> few_;
};

std::unique_ptr<oom_forensics::Run> ManyHostsTest::all_;
std::unique_ptr<oom_forensics::Run> ManyHostsTest::few_;

TEST_F(ManyHostsTest, AnswersAboutAllOfThemAreTheSame) {
  Query query;
  query.set_columns(3);
  query.set_limit(10'000);
  for (const DatasetKind dataset :
       {INFO, MEMORY_TIMELINE, FRAGMENTATION, OOM_WINDOW, LEAKS, DRIVER_MEMORY,
        COMPARE, STEPS, ADDRESS_HISTORY}) {
    EXPECT_EQ(Ask(*few_, query, dataset), Ask(*all_, query, dataset))
        << DatasetKind_Name(dataset);
  }
}

TEST_F(ManyHostsTest, TheHostClosestToItsLimitComesFirst) {
  Info info;
  info.ParseFromString(Ask(*few_, Query(), INFO));
  ASSERT_EQ(info.hosts_size(), kHosts);
  EXPECT_EQ(info.hosts(0).host(), "host150") << "of those that ran out";
  EXPECT_EQ(info.hosts(4).allocators(0).oom_count(), 0u) << "there are four";
}

TEST_F(ManyHostsTest, OneTableOfAllHostsIsSortedAsAWhole) {
  for (const SortKey key : {SORT_BYTES, SORT_OP, SORT_ADDRESS, SORT_BORN}) {
    Query query;
    query.set_sort(key);
    query.set_offset(95);
    query.set_limit(150);
    query.set_group_by(GROUP_OP);
    query.mutable_at()->set_end(true);
    EXPECT_EQ(Ask(*few_, query, ALLOCATIONS), Ask(*all_, query, ALLOCATIONS))
        << SortKey_Name(key);
  }
  Query query;
  query.set_sort(SORT_ADDRESS);
  query.set_ascending(true);
  query.set_limit(kHosts + 1);
  query.mutable_at()->set_end(true);
  Allocations table;
  table.ParseFromString(Ask(*few_, query, ALLOCATIONS));
  ASSERT_EQ(table.allocations_size(), kHosts + 1);
  EXPECT_EQ(table.allocations(0).address(), kPool + kUnit)
      << "each gave its first unit back";
  EXPECT_EQ(table.allocations(198).host(), "host199");
  EXPECT_EQ(table.allocations(199).address(), kPool + 2 * kUnit);
}

}  // namespace
}  // namespace oom_forensics
