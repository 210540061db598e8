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
  const OutsidePoolVerdict full = JudgeOutsidePool("cuDNN", numbers);
  EXPECT_STREQ(full.kind, "OUTSIDE_POOL");
  EXPECT_EQ(full.sentence,
            "This was memory, outside of TensorFlow's pool: cuDNN needs some "
            "of the device for itself, and of its 11.0 GiB only 37.0 MiB were "
            "free; TensorFlow's pools hold 10.4 GiB (2.10 GiB in use).");
  EXPECT_NE(full.remedy.find("memory_limit=9663)"), std::string::npos)
      << full.remedy;

  numbers.pools_in_use_bytes = numbers.pools_bytes;
  EXPECT_NE(JudgeOutsidePool("cuDNN", numbers).remedy.find("smaller batch"),
            std::string::npos);
  numbers.device.process_bytes = uint64_t{100} << 20;
  EXPECT_EQ(JudgeOutsidePool("cuDNN", numbers).remedy,
            "Stop the other processes on this device.");

  numbers.device.free_bytes = uint64_t{4096} << 20;
  EXPECT_STREQ(JudgeOutsidePool("cuDNN", numbers).kind, "UNKNOWN");
}

}  // namespace
}  // namespace oom_forensics
