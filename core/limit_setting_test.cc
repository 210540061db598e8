#include "core/limit_setting.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

const std::vector<std::string>& AllSet() {
  static const auto* environment = new std::vector<std::string>{
      "TF_CPU_BFC_MEM_LIMIT_IN_MB=256", "TF_GPU_HOST_MEM_LIMIT_IN_MB=512",
      "TF_PER_DEVICE_MEMORY_LIMIT_MB=1024", "TF_MKL_ALLOC_MAX_BYTES=4096"};
  return *environment;
}

std::string SettingOf(const std::string& pool) {
  const auto setting = FindLimitSetting(pool, AllSet());
  return setting.has_value() ? setting->text : "";
}

TEST(LimitSettingTest, EachPoolHasItsOwnVariable) {
  EXPECT_EQ(SettingOf("bfc_cpu_allocator_for_gpu"),
            "TF_CPU_BFC_MEM_LIMIT_IN_MB=256");
  EXPECT_EQ(SettingOf("gpu_host_bfc"), "TF_GPU_HOST_MEM_LIMIT_IN_MB=512");
  EXPECT_EQ(SettingOf("GPU_0_bfc"), "TF_PER_DEVICE_MEMORY_LIMIT_MB=1024");
  EXPECT_EQ(SettingOf("mklcpu#0"), "TF_MKL_ALLOC_MAX_BYTES=4096");
  EXPECT_EQ(SettingOf("another_bfc"), "");
}

TEST(LimitSettingTest, IsCountedInBytes) {
  EXPECT_EQ(FindLimitSetting("bfc_cpu_allocator_for_gpu", AllSet())->bytes,
            uint64_t{256} << 20);
  EXPECT_EQ(FindLimitSetting("mklcpu", AllSet())->bytes, 4096u);
}

TEST(LimitSettingTest, WhatIsNotSetOrNoNumberIsNoLimit) {
  EXPECT_FALSE(FindLimitSetting("GPU_0_bfc", {}).has_value());
  EXPECT_FALSE(
      FindLimitSetting("GPU_0_bfc", {"TF_PER_DEVICE_MEMORY_LIMIT_MB=0"})
          .has_value());
  EXPECT_FALSE(
      FindLimitSetting("GPU_0_bfc", {"TF_PER_DEVICE_MEMORY_LIMIT_MB=much"})
          .has_value());
}

}  // namespace
}  // namespace oom_forensics
