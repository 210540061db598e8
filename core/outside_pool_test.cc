#include "core/outside_pool.h"

#include <gtest/gtest.h>

namespace oom_forensics {
namespace {

TEST(OutsidePoolTest, WordsThatDoNotSayMemoryNameTheLibrary) {
  EXPECT_EQ(LibraryWithoutMemory("Failed to get convolution algorithm. This is "
                                 "probably because cuDNN failed to initialize"),
            "cuDNN");
  EXPECT_EQ(LibraryWithoutMemory("No DNN in stream executor. [Op:Conv2D]"),
            "cuDNN");
  EXPECT_EQ(LibraryWithoutMemory("No blas support for stream [Op:MatMul]"),
            "cuBLAS");
  EXPECT_EQ(LibraryWithoutMemory("Failed to create cuFFT batched plan with "
                                 "scratch allocator [Op:FFT]"),
            "cuFFT");
  EXPECT_EQ(LibraryWithoutMemory("NCCL: unhandled cuda error"), "NCCL");
  EXPECT_TRUE(
      IsRefusedCopy("Failed copying input tensor from CPU:0 to GPU:0 "
                    "in order to run Identity: Dst tensor is not "
                    "initialized."));
  EXPECT_EQ(LibraryWithoutMemory("Incompatible shapes: [2] vs. [3]"), "");
}

TEST(OutsidePoolTest, AFullDeviceWasMemoryAndAnEmptyOneWasNot) {
  OutsidePool numbers;
  numbers.device = DeviceNumbers{uint64_t{11264} << 20, uint64_t{37} << 20, 0};
  numbers.pools_bytes = uint64_t{10650} << 20;
  numbers.pools_in_use_bytes = uint64_t{2150} << 20;
  constexpr char kError[] = "No DNN in stream executor";
  const OutsidePoolVerdict full = JudgeOutsidePool({kError, numbers});
  EXPECT_STREQ(full.kind, "OUTSIDE_POOL");
  EXPECT_EQ(full.sentence,
            "This was memory, outside of TensorFlow's pool: cuDNN needs some "
            "of the device for itself, and of its 11.0 GiB only 37.0 MiB were "
            "free; TensorFlow's pools hold 10.4 GiB (2.10 GiB in use).");
  EXPECT_NE(full.remedy.find("memory_limit=9663)"), std::string::npos)
      << full.remedy;

  numbers.pools_in_use_bytes = numbers.pools_bytes;
  EXPECT_NE(JudgeOutsidePool({kError, numbers}).remedy.find("smaller batch"),
            std::string::npos);
  numbers.device.process_bytes = uint64_t{100} << 20;
  EXPECT_EQ(JudgeOutsidePool({kError, numbers}).remedy,
            "Stop the other processes on this device, which hold 10.9 GiB.");

  numbers.device.free_bytes = uint64_t{4096} << 20;
  EXPECT_STREQ(JudgeOutsidePool({kError, numbers}).kind, "UNKNOWN");
}

TEST(OutsidePoolTest, WhatSaysThatMemoryWasRefusedWasMemoryHoweverMuchWasFree) {
  OutsidePool numbers;
  numbers.device = DeviceNumbers{uint64_t{8192} << 20, uint64_t{1536} << 20, 0};
  numbers.pools_bytes = uint64_t{6000} << 20;
  const OutsidePoolVerdict workspace = JudgeOutsidePool(
      {"CUDNN_STATUS_ALLOC_FAILED: failed to allocate 2.00GiB (2147483648 "
       "bytes) from device",
       numbers});
  EXPECT_STREQ(workspace.kind, "OUTSIDE_POOL");
  EXPECT_NE(workspace.sentence.find("cuDNN was refused 2.00 GiB of the device"),
            std::string::npos)
      << workspace.sentence;
  EXPECT_NE(workspace.remedy.find("Leave it 2.00 GiB"), std::string::npos);
  EXPECT_NE(workspace.remedy.find("memory_limit=5488)"), std::string::npos);
  const OutsidePoolVerdict silent =
      JudgeOutsidePool({"CUBLAS_STATUS_ALLOC_FAILED", numbers});
  EXPECT_STREQ(silent.kind, "OUTSIDE_POOL");
  // As much as was free was too little.
  EXPECT_NE(silent.remedy.find("Leave it 2.50 GiB"), std::string::npos);
}

TEST(OutsidePoolTest, AContextThatIsRefusedNeedsNoPoolToBeToldOf) {
  const OutsidePoolVerdict context = JudgeOutsidePool(
      {"cudaSetDevice() on GPU:0 failed. Status: out of memory", {}});
  EXPECT_STREQ(context.kind, "OUTSIDE_POOL");
  EXPECT_NE(context.sentence.find("a context of CUDA found no room"),
            std::string::npos);
}

}  // namespace
}  // namespace oom_forensics
