// What the collector writes of a CUDA device, asked for on the command line: a
// constructed trace (make_cupti_fixture.cc has its story) goes through
// `oom-forensics convert --dataset=driver_memory`, `oom_window` and `report`.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "proto/datasets.pb.h"

namespace oom_forensics {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

std::string OutputOf(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  char buffer[4096];
  size_t size = 0;
  while ((size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0) {
    output.append(buffer, size);
  }
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

class CuptiFixtureTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    trace_ = ::testing::TempDir() + "/gpu.xplane.pb";
    OutputOf(std::string(std::getenv("MAKE_FIXTURE")) + " " + trace_);
    const std::string json =
        OutputOf(std::string(std::getenv("CONVERTER")) + " convert " + trace_ +
                 " --dataset=driver_memory --columns=200");
    const auto parsed =
        google::protobuf::util::JsonStringToMessage(json, &memory_);
    ASSERT_TRUE(parsed.ok()) << parsed.ToString() << json;
    ASSERT_EQ(memory_.series_size(), 1);
  }

  static const DriverSeries& Series() { return memory_.series(0); }

  static const DriverRow* RowOf(const std::string& kind,
                                const std::string& source) {
    for (const DriverRow& row : Series().rows()) {
      if (row.memory_kind() == kind && row.source() == source) return &row;
    }
    return nullptr;
  }

  static std::string trace_;
  static DriverMemory memory_;
};

std::string CuptiFixtureTest::trace_;
DriverMemory CuptiFixtureTest::memory_;

TEST_F(CuptiFixtureTest, NamesTheDeviceAndHowItWasWatched) {
  EXPECT_EQ(Series().device(), "cupti:0");
  EXPECT_EQ(Series().device_name(), "constructed device");
  EXPECT_EQ(Series().mode(), "tee");
  EXPECT_EQ(Series().source(), COLLECTOR);
}

TEST_F(CuptiFixtureTest, TellsTensorFlowsRegionsFromWhatOthersTook) {
  const DriverRow* pool =
      RowOf("device", "/usr/lib/libtensorflow_framework.so.2");
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->allocator(), "GPU_0_bfc#0");
  EXPECT_EQ(pool->live_bytes(), 6 * kGiB);
  EXPECT_EQ(pool->live_count(), 2u);
  const DriverRow* cudnn = RowOf("device", "/usr/lib/libcudnn.so.9");
  ASSERT_NE(cudnn, nullptr);
  EXPECT_EQ(cudnn->allocator(), "");
  EXPECT_EQ(cudnn->live_bytes(), 512 * kMiB);
}

TEST_F(CuptiFixtureTest, FollowsABlockThatWasGivenBack) {
  const DriverRow* cublas = RowOf("device", "/usr/lib/libcublas.so.12");
  ASSERT_NE(cublas, nullptr);
  EXPECT_EQ(cublas->peak_bytes(), 32 * kMiB);
  EXPECT_EQ(cublas->live_bytes(), 0u);
  EXPECT_EQ(cublas->alloc_count(), 1u);
  EXPECT_EQ(cublas->free_count(), 1u);
}

TEST_F(CuptiFixtureTest, TellsMemoryOfTheHostFromMemoryOfTheDevice) {
  const DriverRow* pinned = RowOf("pinned", "/usr/lib/libtensorflow_cc.so.2");
  ASSERT_NE(pinned, nullptr);
  EXPECT_FALSE(pinned->on_device());
  const DriverRow* managed = RowOf("managed", "/usr/lib/libmy_kernels.so");
  ASSERT_NE(managed, nullptr);
  EXPECT_TRUE(managed->on_device());
  const DriverColumn& last = Series().columns(Series().columns_size() - 1);
  EXPECT_EQ(last.driver_bytes(), 6 * kGiB + (512 + 128 + 64) * kMiB);
}

TEST_F(CuptiFixtureTest, ListsTheDriversPools) {
  ASSERT_EQ(Series().pools_size(), 1);
  EXPECT_EQ(Series().pools(0).address(), 0x5000'0000u);
  EXPECT_EQ(Series().pools(0).last_operation(), "trimmed");
  EXPECT_EQ(Series().pools(0).size_bytes(), 64 * kMiB);
  EXPECT_EQ(Series().pools(0).utilized_bytes(), 64 * kMiB);
}

TEST_F(CuptiFixtureTest, StatesTheGapBesideTensorFlowsPool) {
  ASSERT_EQ(Series().samples_size(), 4);
  const DriverSample& start = Series().samples(0);
  EXPECT_EQ(start.reason(), "session start");
  EXPECT_EQ(start.pool_bytes(), 0u);
  EXPECT_EQ(start.gap_bytes(), 512 * kMiB);
  EXPECT_EQ(start.others_bytes(), 0u);
  const DriverSample& oom = Series().samples(3);
  EXPECT_EQ(oom.reason(), "oom");
  EXPECT_EQ(oom.pool_bytes(), 6 * kGiB);
  EXPECT_EQ(oom.gap_bytes(), 18 * kGiB - 480 * kMiB);
  EXPECT_EQ(oom.others_bytes(), 24 * kGiB - 480 * kMiB - 7360 * kMiB);
  EXPECT_EQ(Series().peak_gap_bytes(), oom.gap_bytes());
  ASSERT_EQ(Series().allocators_size(), 1);
  EXPECT_EQ(Series().allocators(0), "GPU_0_bfc#0");
}

TEST_F(CuptiFixtureTest, JudgesTheOomAsExternal) {
  ASSERT_EQ(Series().ooms_size(), 1);
  const DriverOom& oom = Series().ooms(0);
  EXPECT_EQ(oom.oom(), 0);
  EXPECT_EQ(oom.allocator(), "GPU_0_bfc#0");
  EXPECT_EQ(oom.request_bytes(), kGiB);
  EXPECT_EQ(oom.pool_bytes(), 6 * kGiB);
  EXPECT_EQ(oom.pool_limit_bytes(), 22 * kGiB);
  EXPECT_TRUE(oom.external());
  EXPECT_NE(oom.sentence().find("no room for 1.00 GiB"), std::string::npos)
      << oom.sentence();
}

TEST_F(CuptiFixtureTest, TheStoryOfTheOomGivesTheDevicesNumbers) {
  const std::string converter = std::getenv("CONVERTER");
  OomWindow window;
  const std::string json =
      OutputOf(converter + " convert " + trace_ + " --dataset=oom_window");
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(json, &window).ok());
  ASSERT_EQ(window.ooms_size(), 1);
  const Verdict& verdict = window.ooms(0).verdict();
  EXPECT_EQ(verdict.kind(), "EXTERNAL");
  const std::string numbers[] = {"allowed to take 16.0 GiB",
                                 "480.0 MiB of its 24.0 GiB free",
                                 "did not give it 1.00 GiB"};
  const std::string report = OutputOf(converter + " report --full " + trace_);
  EXPECT_NE(report.find("EXTERNAL"), std::string::npos) << report;
  for (const std::string& number : numbers) {
    EXPECT_NE(verdict.sentence().find(number), std::string::npos)
        << verdict.sentence();
    EXPECT_NE(report.find(number), std::string::npos) << report;
  }
  for (const std::string& said :
       {std::string("reserved 6.00 GiB"),
        std::string("Stop the other processes on this device. (gives back "
                    "16.3 GiB) [this request then fits"),
        std::string("They hold 16.3 GiB of its 24.0 GiB.")}) {
    EXPECT_NE(report.find(said), std::string::npos) << said << report;
  }
}

// Columns are of time: what a column says of the pool and of the driver's
// blocks must agree with the samples that lie in it.
TEST_F(CuptiFixtureTest, ColumnsCarryWhatWasSeenLast) {
  ASSERT_GT(Series().columns_size(), 1);
  uint64_t last_pool_bytes = 0;
  for (const DriverColumn& column : Series().columns()) {
    EXPECT_EQ(column.row_bytes_size(), Series().rows_size());
    EXPECT_GE(column.pool_bytes(), last_pool_bytes);
    last_pool_bytes = column.pool_bytes();
  }
  const DriverColumn& last = Series().columns(Series().columns_size() - 1);
  EXPECT_EQ(last.device_total_bytes(), 24 * kGiB);
  EXPECT_EQ(last.device_free_min_bytes(), 480 * kMiB);
  EXPECT_EQ(last.gap_bytes(), 18 * kGiB - 480 * kMiB);
  EXPECT_EQ(last.process_bytes(), 7360 * kMiB);
}

TEST_F(CuptiFixtureTest, TheRestOfTheTraceIsReadAsWell) {
  const std::string info = OutputOf(std::string(std::getenv("CONVERTER")) +
                                    " convert " + trace_ + " --dataset=info");
  EXPECT_NE(info.find("GPU_0_bfc#0"), std::string::npos);
  EXPECT_NE(info.find("\"cuptiMode\""), std::string::npos);
}

}  // namespace
}  // namespace oom_forensics
