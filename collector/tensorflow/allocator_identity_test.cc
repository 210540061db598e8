#include "collector/tensorflow/allocator_identity.h"

#include <gtest/gtest.h>

namespace oom_forensics::collector {
namespace {

void ExpectIdentity(std::string_view name, std::string_view kind,
                    std::string_view device_name) {
  const AllocatorIdentity identity = IdentifyBfcAllocator(name);
  EXPECT_EQ(identity.kind, kind) << name;
  EXPECT_EQ(identity.device_name, device_name) << name;
}

TEST(AllocatorIdentityTest, LogicalDevicesAreNumberedInTheName) {
  ExpectIdentity("GPU_0_bfc", "bfc", "/device:GPU:0");
  ExpectIdentity("GPU_12_bfc", "bfc", "/device:GPU:12");
}

TEST(AllocatorIdentityTest, WithoutAPoolTheNameHasTheNumberOfTheGpu) {
  EXPECT_EQ(DeviceOfDirectAllocator("gpu_async_1"), "/device:GPU:1");
  EXPECT_EQ(DeviceOfDirectAllocator("gpu_async_"), "");
  EXPECT_EQ(DeviceOfDirectAllocator("Simple allocator"), "");
}

TEST(AllocatorIdentityTest, PoolsOfTheHostBelongToTheCpu) {
  ExpectIdentity("bfc_cpu_allocator_for_gpu", "bfc", "/device:CPU:0");
  // Large tensors of the CPU, under oneDNN.
  ExpectIdentity("mklcpu", "bfc", "/device:CPU:0");
  ExpectIdentity("gpu_host_bfc", "gpu_host", "/device:CPU:0");
  ExpectIdentity("cuda_host_bfc", "gpu_host", "/device:CPU:0");
  ExpectIdentity("pluggable_device_host_bfc", "gpu_host", "/device:CPU:0");
}

TEST(AllocatorIdentityTest, APluggableDevicesTypeIsNotInItsName) {
  ExpectIdentity("PluggableDevice_0_bfc", "pluggable", "");
}

TEST(AllocatorIdentityTest, WhatTheNameDoesNotTellIsLeftOut) {
  ExpectIdentity("GPU_x_bfc", "bfc", "");
  ExpectIdentity("GPU__bfc", "bfc", "");
  ExpectIdentity("somebody's pool", "bfc", "");
  ExpectIdentity("", "bfc", "");
}

}  // namespace
}  // namespace oom_forensics::collector
