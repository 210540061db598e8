#include "collector/cupti/device_memory_watcher.h"

#include <gtest/gtest.h>

#include "collector/cupti/buffer_router.h"
#include "collector/cupti/testing/standin_cupti.h"
#include "collector/cupti/testing/standin_driver.h"
#include "collector/cupti/testing/standin_tensorflow.h"

namespace oom_forensics::cupti {
namespace {

using testing::EmitAllocation;
using testing::SetDevices;
using testing::StartTracer;
using testing::StopTracer;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr char kTensorFlow[] = "libstandin_tensorflow_cc.so";
constexpr MemorySampler::Libraries kDriver = {"libstandin_driver.so",
                                              "libno_nvml.so"};

bool Contains(const std::string& bytes, std::string_view text) {
  return bytes.find(text) != std::string::npos;
}

// A number as it stands in a protocol buffer.
std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>(value | 0x80);
  }
  return bytes + static_cast<char>(value);
}

class DeviceMemoryWatcherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    testing::ResetStandinCupti();
    SetDevices({{10 * kGiB, 80 * kGiB}});
  }
  void TearDown() override {
    CuptiTee::Get().Uninstall();
    CuptiTee::Get().ForgetSession();
    BufferRouter::Get().SetLog(nullptr);
  }
};

TEST_F(DeviceMemoryWatcherTest, IsOffWithoutCuda) {
  DeviceMemoryWatcher watcher({}, {"libno_cuda.so", "libno_nvml.so"});
  watcher.Install(kTensorFlow);
  watcher.StartSession();
  watcher.Sample("oom", SampleDepth::kFull);
  EXPECT_EQ(watcher.WritePlanes(0, 0), "");
  EXPECT_EQ(watcher.Mode().mode, "off");
  EXPECT_EQ(watcher.Mode().reason,
            "no CUDA device: libno_cuda.so is not loaded in this process");
}

TEST_F(DeviceMemoryWatcherTest, CanBeSwitchedOff) {
  DeviceMemoryWatcher watcher({WatchSetting::kOff}, kDriver);
  watcher.Install(kTensorFlow);
  watcher.StartSession();
  EXPECT_FALSE(CuptiTee::Get().installed());
  EXPECT_EQ(watcher.WritePlanes(0, 0), "");
  EXPECT_EQ(watcher.Mode().mode, "off");
}

TEST_F(DeviceMemoryWatcherTest, TeesIntoTensorFlowsSession) {
  DeviceMemoryWatcher watcher({}, kDriver);
  watcher.Install(kTensorFlow);
  watcher.StartSession();
  ASSERT_TRUE(StartTracer());
  EmitAllocation(0x1000, 4096);
  StopTracer(/*finalize=*/true);
  const std::string planes = watcher.WritePlanes(1, 0);
  EXPECT_EQ(watcher.Mode().mode, "tee");
  EXPECT_TRUE(Contains(planes, "/oom_forensics:cupti:0"));
  EXPECT_TRUE(Contains(planes, "device_alloc"));
  EXPECT_TRUE(Contains(planes, "session start"));
  EXPECT_TRUE(Contains(planes, "Stand-in 0"));
}

TEST_F(DeviceMemoryWatcherTest, AnonymousAddressesAreThoseOfTheAllocators) {
  constexpr uint64_t kAddress = 0x7f1234567000;
  constexpr uint64_t kShift = 0x7f1200000000;
  DeviceMemoryWatcher watcher({}, kDriver);
  watcher.Install(kTensorFlow);
  watcher.StartSession();
  ASSERT_TRUE(StartTracer());
  EmitAllocation(kAddress, 4096);
  StopTracer(/*finalize=*/true);
  const std::string as_they_are = watcher.WritePlanes(1, 0);
  EXPECT_TRUE(Contains(as_they_are, Varint(kAddress)));
  const std::string shifted = watcher.WritePlanes(1, kShift);
  EXPECT_FALSE(Contains(shifted, Varint(kAddress)));
  EXPECT_TRUE(Contains(shifted, Varint(kAddress - kShift)));
}

TEST_F(DeviceMemoryWatcherTest, TheTeeWorksWhicheverSideStartsFirst) {
  DeviceMemoryWatcher watcher({}, kDriver);
  watcher.Install(kTensorFlow);
  ASSERT_TRUE(StartTracer());
  watcher.StartSession();
  EmitAllocation(0x1000, 4096);
  StopTracer(/*finalize=*/true);
  EXPECT_TRUE(Contains(watcher.WritePlanes(1, 0), "device_alloc"));
  EXPECT_EQ(watcher.Mode().mode, "tee");
}

TEST_F(DeviceMemoryWatcherTest, ASessionHasNothingOfTheOneBefore) {
  DeviceMemoryWatcher watcher({}, kDriver);
  watcher.Install(kTensorFlow);
  watcher.StartSession();
  ASSERT_TRUE(StartTracer());
  EmitAllocation(0x1000, 4096);
  StopTracer(/*finalize=*/true);
  ASSERT_TRUE(Contains(watcher.WritePlanes(1, 0), "device_alloc"));
  watcher.EndSession();

  watcher.StartSession();
  const std::string planes = watcher.WritePlanes(1, 0);
  EXPECT_FALSE(Contains(planes, "device_alloc"));
  EXPECT_EQ(watcher.Mode().mode, "samples");
}

TEST_F(DeviceMemoryWatcherTest, SamplesWhereTheWrapperIsNotRecognised) {
  DeviceMemoryWatcher watcher({}, kDriver);
  watcher.Install("libstandin_cupti.so");
  watcher.StartSession();
  watcher.Sample("oom", SampleDepth::kFull);
  EXPECT_EQ(watcher.Mode().mode, "samples");
  EXPECT_EQ(watcher.Mode().reason,
            "this TensorFlow has no xla::profiler::CuptiWrapper");
  const std::string planes = watcher.WritePlanes(1, 0);
  EXPECT_TRUE(Contains(planes, "device_sample"));
  EXPECT_TRUE(Contains(planes, "oom"));
}

TEST_F(DeviceMemoryWatcherTest, SaysWhatCuptiAnsweredToTheTee) {
  testing::RefuseKind(CUPTI_ACTIVITY_KIND_MEMORY2,
                      CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  DeviceMemoryWatcher watcher({}, kDriver);
  watcher.Install(kTensorFlow);
  watcher.StartSession();
  ASSERT_TRUE(StartTracer());
  StopTracer(/*finalize=*/true);
  EXPECT_EQ(watcher.Mode().mode, "samples");
  EXPECT_EQ(watcher.Mode().reason,
            "cuptiActivityEnable(MEMORY2) answers CUPTI error 35");
}

TEST_F(DeviceMemoryWatcherTest, OwnCuptiIsNeverUsedUnasked) {
  DeviceMemoryWatcher watcher({}, kDriver);
  watcher.Install(kTensorFlow);
  watcher.Sample("oom", SampleDepth::kFull);
  EXPECT_FALSE(testing::IsEnabled(CUPTI_ACTIVITY_KIND_MEMORY2));
}

// The stand-in of CUPTI is not found by the name of the real one, as on a
// machine without CUPTI.
TEST_F(DeviceMemoryWatcherTest, OwnCuptiSaysThatThereIsNone) {
  DeviceMemoryWatcher watcher({WatchSetting::kOwn}, kDriver);
  watcher.Install(kTensorFlow);
  watcher.StartSession();
  EXPECT_EQ(watcher.Mode().mode, "samples");
  EXPECT_EQ(watcher.Mode().reason,
            "libcupti is not installed where the dynamic linker looks");
}

TEST_F(DeviceMemoryWatcherTest, SamplesOnlyWhereThatIsAskedFor) {
  DeviceMemoryWatcher watcher({WatchSetting::kSamples}, kDriver);
  watcher.Install(kTensorFlow);
  EXPECT_FALSE(CuptiTee::Get().installed());
  watcher.StartSession();
  EXPECT_EQ(watcher.Mode().mode, "samples");
  EXPECT_EQ(watcher.Mode().reason, "OOM_FORENSICS_CUPTI=samples");
}

}  // namespace
}  // namespace oom_forensics::cupti
