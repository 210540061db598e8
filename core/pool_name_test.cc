#include "core/pool_name.h"

#include "gtest/gtest.h"

namespace oom_forensics {
namespace {

TEST(PoolNameTest, TellsTheGpu) {
  EXPECT_EQ(GpuOrdinalOf("GPU_1_bfc", ""), 1);
  EXPECT_EQ(GpuOrdinalOf("cuda_async", "/device:GPU:12"), 12);
  EXPECT_EQ(GpuOrdinalOf("mklcpu", "/device:CPU:0"), -1);
  EXPECT_EQ(GpuOrdinalOf("bfc_cpu_allocator_for_gpu", ""), -1);
}

}  // namespace
}  // namespace oom_forensics
