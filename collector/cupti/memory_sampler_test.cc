#include "collector/cupti/memory_sampler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "collector/cupti/testing/standin_driver.h"

namespace oom_forensics::cupti {
namespace {

using testing::SetDevices;
using testing::SetProcesses;

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr MemorySampler::Libraries kStandin = {"libstandin_driver.so",
                                               "libstandin_driver.so"};

TEST(MemorySamplerTest, SeesNothingWithoutTheDriver) {
  DeviceLog log;
  MemorySampler sampler(&log, {"libcuda_that_is_not_there.so", Nvml::kName});
  EXPECT_EQ(sampler.Sample("session start", SampleDepth::kFull), 0);
  EXPECT_TRUE(log.Read().events.empty());
  std::string why;
  EXPECT_EQ(sampler.DeviceCount(&why), 0);
  EXPECT_EQ(why, "libcuda_that_is_not_there.so is not loaded in this process");
  EXPECT_EQ(sampler.NameOf(0), "");
}

TEST(MemorySamplerTest, DoesNotInitializeCuda) {
  SetDevices({{kGiB, 2 * kGiB}}, /*initialized=*/false);
  DeviceLog log;
  MemorySampler sampler(&log, kStandin);
  EXPECT_EQ(sampler.Sample("session start", SampleDepth::kFull), 0);
  std::string why;
  EXPECT_EQ(sampler.DeviceCount(&why), 0);
  EXPECT_EQ(why, "the CUDA driver offers no device");
}

TEST(MemorySamplerTest, MakesNoContext) {
  SetDevices({{kGiB, 2 * kGiB, /*has_context=*/false}});
  DeviceLog log;
  MemorySampler sampler(&log, kStandin);
  EXPECT_EQ(sampler.Sample("session start", SampleDepth::kFull), 0);
  EXPECT_TRUE(log.Read().events.empty());
  EXPECT_EQ(testing::UnbalancedContexts(), 0);
}

TEST(MemorySamplerTest, SamplesEveryDeviceInUse) {
  SetDevices({{10 * kGiB, 80 * kGiB},
              {80 * kGiB, 80 * kGiB, /*has_context=*/false},
              {30 * kGiB, 80 * kGiB}});
  DeviceLog log;
  MemorySampler sampler(&log, kStandin);
  EXPECT_EQ(sampler.Sample("oom", SampleDepth::kFull), 2);
  const DeviceLog::Contents contents = log.Read();
  ASSERT_EQ(contents.events.size(), 2u);
  EXPECT_EQ(contents.events[0].kind, DriverEventKind::kSample);
  EXPECT_EQ(contents.events[0].time_base, TimeBase::kCollector);
  EXPECT_EQ(contents.events[0].free_bytes, 10 * kGiB);
  EXPECT_EQ(contents.events[0].total_bytes, 80 * kGiB);
  EXPECT_EQ(contents.strings.at(contents.events[0].text - 1), "oom");
  EXPECT_EQ(contents.events[1].device, 2u);
  EXPECT_EQ(testing::UnbalancedContexts(), 0);
}

TEST(MemorySamplerTest, AsksForProcessesOnlyWhenThereIsTime) {
  SetDevices({{10 * kGiB, 80 * kGiB}});
  // A process id that no process has.
  SetProcesses(
      {{4194305, 3 * kGiB}, {static_cast<uint32_t>(getpid()), 5 * kGiB}});
  DeviceLog log;
  MemorySampler sampler(&log, kStandin);
  sampler.Sample("oom", SampleDepth::kFull);
  sampler.Sample("region growth", SampleDepth::kQuick);
  const DeviceLog::Contents contents = log.Read();
  EXPECT_EQ(contents.events.at(0).process_bytes, 5 * kGiB);
  EXPECT_EQ(contents.strings.at(contents.events.at(0).others - 1),
            "4194305 3221225472 \n");
  EXPECT_EQ(contents.events.at(1).process_bytes, 0u);
  EXPECT_EQ(contents.events.at(1).others, 0u);
  const auto last = sampler.LastFullSample(0);
  ASSERT_TRUE(last.has_value());
  ASSERT_EQ(last->others.size(), 1u);
  EXPECT_EQ(last->others[0].process_id, 4194305u);
  EXPECT_EQ(sampler.PciBusIdOf(0), "0000:00:00.0");
}

// It is taken while an allocator is locked: no library is looked for then.
TEST(MemorySamplerTest, AQuickSampleLooksForNothing) {
  SetDevices({{10 * kGiB, 80 * kGiB}});
  DeviceLog log;
  MemorySampler sampler(&log, kStandin);
  EXPECT_EQ(sampler.Sample("region growth", SampleDepth::kQuick), 0);
  sampler.Sample("new allocator", SampleDepth::kFull);
  EXPECT_EQ(sampler.Sample("region growth", SampleDepth::kQuick), 1);
}

TEST(MemorySamplerTest, DoesNotKnowAProcessThatNvmlDoesNotList) {
  SetDevices({{10 * kGiB, 80 * kGiB}});
  SetProcesses({{1, 3 * kGiB}});
  DeviceLog log;
  MemorySampler sampler(&log, kStandin);
  sampler.Sample("oom", SampleDepth::kFull);
  EXPECT_EQ(log.Read().events.at(0).process_bytes, 0u);
}

TEST(MemorySamplerTest, DoesWithoutNvml) {
  SetDevices({{10 * kGiB, 80 * kGiB}});
  DeviceLog log;
  MemorySampler sampler(&log, {"libstandin_driver.so", "libno_nvml.so"});
  EXPECT_EQ(sampler.Sample("oom", SampleDepth::kFull), 1);
  EXPECT_EQ(log.Read().events.at(0).free_bytes, 10 * kGiB);
}

TEST(MemorySamplerTest, NamesTheDevice) {
  SetDevices({{10 * kGiB, 80 * kGiB}});
  DeviceLog log;
  MemorySampler sampler(&log, kStandin);
  EXPECT_EQ(sampler.NameOf(0), "Stand-in 0");
}

}  // namespace
}  // namespace oom_forensics::cupti
