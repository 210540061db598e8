#include "collector/cupti/own_cupti.h"

#include <gtest/gtest.h>

#include "collector/cupti/buffer_router.h"
#include "collector/cupti/testing/standin_cupti.h"

namespace oom_forensics::cupti {
namespace {

using testing::EmitAllocation;
using testing::EmitKernel;
using testing::EmitPoolCreated;
using testing::EmitRelease;
using testing::IsEnabled;

class OwnCuptiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::ResetStandinCupti();
    std::string why;
    cupti_ = CuptiLibrary::OpenPath("libstandin_cupti.so", &why);
    ASSERT_TRUE(cupti_.has_value()) << why;
  }

  // Buffers may not outlive the log.
  void TearDown() override {
    own_.Yield();
    EXPECT_EQ(BufferRouter::Get().own_buffers(), 0u);
    BufferRouter::Get().SetLog(nullptr);
  }

  DeviceLog log_;
  OwnCupti own_{&log_};
  std::optional<CuptiLibrary> cupti_;
};

TEST_F(OwnCuptiTest, RecordsWhatTheDriverDoes) {
  ASSERT_EQ(own_.Start(*cupti_, /*allocation_source=*/false), "");
  EmitAllocation(0x1000, 256);
  EmitPoolCreated(0x5000);
  EmitRelease(0x1000, 256);
  own_.Flush();
  const DeviceLog::Contents contents = log_.Read();
  ASSERT_EQ(contents.events.size(), 3u);
  EXPECT_EQ(contents.events[0].kind, DriverEventKind::kAlloc);
  EXPECT_EQ(contents.events[1].kind, DriverEventKind::kPool);
  EXPECT_EQ(contents.events[2].kind, DriverEventKind::kFree);
}

TEST_F(OwnCuptiTest, AsksForMemoryRecordsOnly) {
  ASSERT_EQ(own_.Start(*cupti_, false), "");
  EXPECT_TRUE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY2));
  EXPECT_TRUE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY_POOL));
  EXPECT_FALSE(IsEnabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  EXPECT_FALSE(testing::HasSubscriber());
}

TEST_F(OwnCuptiTest, LosesNothingOverManyBuffers) {
  ASSERT_EQ(own_.Start(*cupti_, false), "");
  for (uint64_t i = 0; i < 1000; ++i) EmitAllocation(0x1000 + i, 256);
  own_.Flush();
  EXPECT_EQ(log_.Read().events.size(), 1000u);
}

TEST_F(OwnCuptiTest, LeavesCuptiAsItWasWhenItYields) {
  ASSERT_EQ(own_.Start(*cupti_, false), "");
  EmitAllocation(0x1000, 256);
  own_.Yield();
  EXPECT_FALSE(own_.running());
  EXPECT_FALSE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY2));
  EXPECT_FALSE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY_POOL));
  EXPECT_EQ(BufferRouter::Get().own_buffers(), 0u);
  // What was recorded before is not lost.
  EXPECT_EQ(log_.Read().events.size(), 1u);
}

TEST_F(OwnCuptiTest, ComesBackAfterCuptiWasFinalized) {
  ASSERT_EQ(own_.Start(*cupti_, false), "");
  own_.Yield();
  cuptiFinalize();
  own_.Forget();
  ASSERT_EQ(own_.Start(*cupti_, false), "");
  EmitAllocation(0x2000, 512);
  own_.Flush();
  EXPECT_EQ(log_.Read().events.size(), 1u);
}

TEST_F(OwnCuptiTest, SaysWhyCuptiRefuses) {
  testing::RefuseKind(CUPTI_ACTIVITY_KIND_MEMORY2,
                      CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(own_.Start(*cupti_, false),
            "cuptiActivityEnable(MEMORY2) answers CUPTI_ERROR_STANDIN");
  EXPECT_FALSE(own_.running());
  EXPECT_FALSE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY_POOL));
}

TEST_F(OwnCuptiTest, DoesWithoutPoolsWhereTheyAreRefused) {
  testing::RefuseKind(CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                      CUPTI_ERROR_INVALID_KIND);
  ASSERT_EQ(own_.Start(*cupti_, false), "");
  EmitAllocation(0x1000, 256);
  own_.Flush();
  EXPECT_EQ(log_.Read().events.size(), 1u);
}

TEST_F(OwnCuptiTest, TracksTheSourceOnlyIfAsked) {
  ASSERT_EQ(own_.Start(*cupti_, /*allocation_source=*/false), "");
  EXPECT_FALSE(testing::TracksAllocationSource());
  own_.Yield();
  ASSERT_EQ(own_.Start(*cupti_, /*allocation_source=*/true), "");
  EmitAllocation(0x1000, 256, "/opt/libcudnn.so.9");
  own_.Flush();
  const DeviceLog::Contents contents = log_.Read();
  ASSERT_EQ(contents.events.size(), 1u);
  EXPECT_EQ(contents.strings.at(contents.events[0].text - 1),
            "/opt/libcudnn.so.9");
}

TEST_F(OwnCuptiTest, ConvertsFromCuptisClock) {
  testing::SetClockOffset(-3'600'000'000'000);
  ASSERT_EQ(own_.Start(*cupti_, false), "");
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  ReadCollectorClock(&before_ns);
  EmitAllocation(0x1000, 256);
  ReadCollectorClock(&after_ns);
  own_.Flush();
  const int64_t time_ns =
      own_.clock().ToCollector(log_.Read().events.at(0).time_ns);
  EXPECT_GE(time_ns, before_ns - own_.clock().error_ns());
  EXPECT_LE(time_ns, after_ns + own_.clock().error_ns());
}

}  // namespace
}  // namespace oom_forensics::cupti
