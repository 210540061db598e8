// The check on a GPU as a test: skipped where there is none.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

TEST(GpuMemoryTest, CuptiRecordsEqualWhatTheProgramDid) {
  std::FILE* pipe = popen(std::getenv("GPU_MEMORY_CHECK"), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  char buffer[4096];
  size_t size = 0;
  while ((size = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0) {
    output.append(buffer, size);
  }
  const int status = pclose(pipe);
  if (output == "skipped: no CUDA device\n") GTEST_SKIP() << "no CUDA device";
  EXPECT_EQ(status, 0) << output;
}
