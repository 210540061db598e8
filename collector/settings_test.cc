#include "collector/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace oom_forensics::collector {
namespace {

class SettingsTest : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("OOM_FORENSICS");
    unsetenv("OOM_FORENSICS_CUPTI");
    unsetenv("OOM_FORENSICS_CUPTI_SOURCE");
    unsetenv("OOM_FORENSICS_ALLOCATION_LOG_BUFFER_SIZE");
  }
  Settings Read() { return SettingsFromEnvironment(&warnings_); }

  std::vector<std::string> warnings_;
};

TEST_F(SettingsTest, IsOnByDefault) {
  const Settings settings = Read();
  EXPECT_TRUE(settings.enabled);
  EXPECT_EQ(settings.allocation_log_buffer_size, 100'000u);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(SettingsTest, IsSwitchedOffByZero) {
  setenv("OOM_FORENSICS", "0", 1);
  EXPECT_FALSE(Read().enabled);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(SettingsTest, TakesANumber) {
  setenv("OOM_FORENSICS_ALLOCATION_LOG_BUFFER_SIZE", "5000", 1);
  EXPECT_EQ(Read().allocation_log_buffer_size, 5000u);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(SettingsTest, KeepsTheDefaultAndWarnsOfAWrongValue) {
  for (const char* wrong :
       {"many", "-1", "12x", "3", "1e9", "99999999999999999999999999"}) {
    warnings_.clear();
    setenv("OOM_FORENSICS_ALLOCATION_LOG_BUFFER_SIZE", wrong, 1);
    EXPECT_EQ(Read().allocation_log_buffer_size, 100'000u) << wrong;
    ASSERT_EQ(warnings_.size(), 1u) << wrong;
    EXPECT_NE(warnings_[0].find(wrong), std::string::npos);
  }
}

TEST_F(SettingsTest, StaysOnAndWarnsIfTheSwitchIsNotUnderstood) {
  setenv("OOM_FORENSICS", "maybe", 1);
  EXPECT_TRUE(Read().enabled);
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(SettingsTest, TakesHowDeviceMemoryIsWatched) {
  EXPECT_EQ(Read().device_memory.watch, cupti::WatchSetting::kAuto);
  setenv("OOM_FORENSICS_CUPTI", "own", 1);
  EXPECT_EQ(Read().device_memory.watch, cupti::WatchSetting::kOwn);
  setenv("OOM_FORENSICS_CUPTI", "off", 1);
  EXPECT_EQ(Read().device_memory.watch, cupti::WatchSetting::kOff);
  EXPECT_TRUE(warnings_.empty());
  setenv("OOM_FORENSICS_CUPTI", "sometimes", 1);
  EXPECT_EQ(Read().device_memory.watch, cupti::WatchSetting::kAuto);
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(SettingsTest, TracksTheSourceOfDeviceMemoryOnlyIfAsked) {
  EXPECT_FALSE(Read().device_memory.allocation_source);
  setenv("OOM_FORENSICS_CUPTI_SOURCE", "1", 1);
  EXPECT_TRUE(Read().device_memory.allocation_source);
}

}  // namespace
}  // namespace oom_forensics::collector
