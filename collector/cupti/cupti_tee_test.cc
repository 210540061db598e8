#include "collector/cupti/cupti_tee.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "collector/cupti/buffer_router.h"
#include "collector/cupti/own_cupti.h"
#include "collector/cupti/testing/standin_cupti.h"
#include "collector/cupti/testing/standin_tensorflow.h"

namespace oom_forensics::cupti {
namespace {

using collector::TensorFlowLibrary;
using testing::EmitAllocation;
using testing::EmitKernel;
using testing::EmitPoolCreated;
using testing::IsEnabled;
using testing::StartTracer;
using testing::StopTracer;
using testing::TracerResult;

constexpr char kStandin[] = "libstandin_tensorflow_cc.so";

class CuptiTeeTest : public ::testing::Test {
 protected:
  void SetUp() override { testing::ResetStandinCupti(); }
  void TearDown() override {
    tee_.Uninstall();
    tee_.ForgetSession();
    BufferRouter::Get().SetLog(nullptr);
  }

  void Install(TeeOptions options = {}) {
    const auto library = TensorFlowLibrary::Find(kStandin);
    ASSERT_TRUE(library.has_value());
    ASSERT_EQ(tee_.Install(*library, std::move(options), &log_), "");
  }

  DeviceLog log_;
  CuptiTee& tee_ = CuptiTee::Get();
};

TEST_F(CuptiTeeTest, AddsMemoryRecordsToTensorFlowsSession) {
  Install();
  ASSERT_TRUE(StartTracer());
  EXPECT_TRUE(tee_.tensorflow_traces());
  EXPECT_TRUE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY2));
  EXPECT_TRUE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY_POOL));
  EmitAllocation(0x1000, 4096);
  EmitKernel();
  EmitPoolCreated(0x5000);
  StopTracer(/*finalize=*/true);

  const DeviceLog::Contents contents = log_.Read();
  ASSERT_EQ(contents.events.size(), 2u);
  EXPECT_EQ(contents.events[0].address, 0x1000u);
  EXPECT_EQ(contents.events[0].bytes, 4096u);
  EXPECT_EQ(contents.events[1].kind, DriverEventKind::kPool);
  EXPECT_TRUE(tee_.recorded());
  EXPECT_FALSE(tee_.tensorflow_traces());
}

TEST_F(CuptiTeeTest, TakesNothingFromTensorFlow) {
  ASSERT_TRUE(StartTracer());
  for (int i = 0; i < 500; ++i) EmitKernel();
  const TracerResult without = StopTracer(/*finalize=*/true);

  Install();
  ASSERT_TRUE(StartTracer());
  for (int i = 0; i < 500; ++i) {
    EmitKernel();
    EmitAllocation(0x1000 + i, 256);
  }
  const TracerResult with = StopTracer(/*finalize=*/true);

  const int kernel = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  EXPECT_EQ(without.records.at(kernel), 500);
  EXPECT_EQ(with.records.at(kernel), 500);
  EXPECT_EQ(with.foreign_buffers, 0);
  EXPECT_EQ(with.lost_buffers, 0u);
  EXPECT_EQ(log_.Read().events.size(), 500u);
}

TEST_F(CuptiTeeTest, LeavesNothingEnabledBehindTensorFlow) {
  Install();
  ASSERT_TRUE(StartTracer());
  StopTracer(/*finalize=*/false);
  EXPECT_FALSE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY2));
  EXPECT_FALSE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY_POOL));
}

// TensorFlow disables its kinds first and then flushes: what is in the buffer
// then must still arrive.
TEST_F(CuptiTeeTest, ReadsWhatTheLastFlushBrings) {
  Install();
  ASSERT_TRUE(StartTracer());
  EmitAllocation(0x1000, 256);
  EXPECT_TRUE(log_.Read().events.empty());
  StopTracer(/*finalize=*/true);
  EXPECT_EQ(log_.Read().events.size(), 1u);
}

TEST_F(CuptiTeeTest, ArmsAgainAfterFinalize) {
  Install();
  for (int session = 1; session <= 3; ++session) {
    ASSERT_TRUE(StartTracer());
    EmitAllocation(0x1000 * session, 256);
    const TracerResult result = StopTracer(/*finalize=*/true);
    EXPECT_EQ(result.foreign_buffers, 0);
    EXPECT_EQ(log_.Read().events.size(), static_cast<size_t>(session));
  }
}

TEST_F(CuptiTeeTest, ArmsAgainWhereTensorFlowDoesNotFinalize) {
  Install();
  for (int session = 1; session <= 3; ++session) {
    ASSERT_TRUE(StartTracer());
    EmitAllocation(0x1000 * session, 256);
    StopTracer(/*finalize=*/false);
    EXPECT_EQ(log_.Read().events.size(), static_cast<size_t>(session));
  }
}

TEST_F(CuptiTeeTest, TensorFlowTracesOnWhereMemoryRecordsAreRefused) {
  testing::RefuseKind(CUPTI_ACTIVITY_KIND_MEMORY2,
                      CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  Install();
  ASSERT_TRUE(StartTracer());
  EmitKernel();
  const TracerResult result = StopTracer(/*finalize=*/true);
  EXPECT_EQ(result.records.at(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
  EXPECT_FALSE(tee_.recorded());
  EXPECT_EQ(tee_.problem(),
            "cuptiActivityEnable(MEMORY2) answers CUPTI error 35");
}

// CUPTI tells its losses once, to the one who asks: that stays TensorFlow.
TEST_F(CuptiTeeTest, NotesTheLossesThatTensorFlowAsksFor) {
  Install();
  ASSERT_TRUE(StartTracer());
  EmitKernel();
  testing::LoseRecords(3);
  const TracerResult result = StopTracer(/*finalize=*/true);
  EXPECT_EQ(result.dropped_records, 3u);
  EXPECT_EQ(log_.Read().dropped_by_cupti, 3u);
}

TEST_F(CuptiTeeTest, TracksTheSourceOnlyIfAsked) {
  Install();
  ASSERT_TRUE(StartTracer());
  EXPECT_FALSE(testing::TracksAllocationSource());
  StopTracer(/*finalize=*/true);
}

TEST_F(CuptiTeeTest, ConvertsFromCuptisClock) {
  testing::SetClockOffset(7'000'000'000);
  Install();
  ASSERT_TRUE(StartTracer());
  int64_t before_ns = 0;
  int64_t after_ns = 0;
  ReadCollectorClock(&before_ns);
  EmitAllocation(0x1000, 256);
  ReadCollectorClock(&after_ns);
  StopTracer(/*finalize=*/true);
  const ClockConverter clock = tee_.clock();
  const int64_t time_ns = clock.ToCollector(log_.Read().events.at(0).time_ns);
  EXPECT_GE(time_ns, before_ns - clock.error_ns());
  EXPECT_LE(time_ns, after_ns + clock.error_ns());
}

// The own recording steps back for TensorFlow and comes back after it, and each
// buffer ends with the side that it came from.
TEST_F(CuptiTeeTest, OwnRecordingMakesWayAndComesBack) {
  std::string why;
  const auto cupti = CuptiLibrary::OpenPath("libstandin_cupti.so", &why);
  ASSERT_TRUE(cupti.has_value()) << why;
  OwnCupti own(&log_);
  TeeOptions options;
  options.before_take = [&own] { own.Yield(); };
  options.after_finalize = [&own] { own.Forget(); };
  Install(std::move(options));

  ASSERT_EQ(own.Start(*cupti, /*allocation_source=*/false), "");
  EmitAllocation(0x1000, 256);
  ASSERT_TRUE(StartTracer());
  EXPECT_FALSE(own.running());
  EXPECT_EQ(log_.Read().events.size(), 1u);
  EmitAllocation(0x2000, 256);
  const TracerResult result = StopTracer(/*finalize=*/true);
  EXPECT_EQ(result.foreign_buffers, 0);
  EXPECT_EQ(log_.Read().events.size(), 2u);

  ASSERT_EQ(own.Start(*cupti, false), "");
  EmitAllocation(0x3000, 256);
  own.Yield();
  EXPECT_EQ(log_.Read().events.size(), 3u);
  EXPECT_EQ(BufferRouter::Get().own_buffers(), 0u);
}

// A tracer that is stopped without a flush leaves a buffer with CUPTI, which
// comes back when the own recording flushes.
TEST_F(CuptiTeeTest, ALateBufferOfTensorFlowGoesBackToTensorFlow) {
  std::string why;
  const auto cupti = CuptiLibrary::OpenPath("libstandin_cupti.so", &why);
  ASSERT_TRUE(cupti.has_value()) << why;
  Install();
  ASSERT_TRUE(StartTracer());
  EmitAllocation(0x1000, 256);
  OwnCupti own(&log_);
  ASSERT_EQ(own.Start(*cupti, false), "");
  own.Yield();
  const TracerResult result = StopTracer(/*finalize=*/true);
  EXPECT_EQ(result.foreign_buffers, 0);
  EXPECT_EQ(result.lost_buffers, 0u);
  EXPECT_EQ(log_.Read().events.size(), 1u);
}

TEST_F(CuptiTeeTest, RefusesALibraryWithoutTheWrapper) {
  const auto library = TensorFlowLibrary::Find("libstandin_cupti.so");
  ASSERT_TRUE(library.has_value());
  EXPECT_EQ(tee_.Install(*library, {}, &log_),
            "this TensorFlow has no xla::profiler::CuptiWrapper");
  EXPECT_FALSE(tee_.installed());
}

TEST_F(CuptiTeeTest, PutsTheTableBack) {
  Install();
  tee_.Uninstall();
  ASSERT_TRUE(StartTracer());
  EXPECT_FALSE(IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY2));
  StopTracer(/*finalize=*/true);
  EXPECT_FALSE(tee_.tensorflow_traces());
}

}  // namespace
}  // namespace oom_forensics::cupti
