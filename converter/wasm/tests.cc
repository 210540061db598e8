// The unit tests as a WebAssembly module that is run as the command is
// (program.cc).
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"

#define OOM_FORENSICS_EXPORT(name) \
  extern "C" __attribute__((export_name(#name), used))

OOM_FORENSICS_EXPORT(allocate) char* Allocate(uint32_t size_bytes) {
  return static_cast<char*>(std::malloc(size_bytes));
}

// GoogleTest makes the folder of its report, which is there; what tests leave
// behind is removed by who runs them.
extern "C" long __syscall_mkdir(long, long) { return -EEXIST; }
extern "C" long __syscall_unlink(long) { return -ENOSYS; }
extern "C" long __syscall_rmdir(long) { return -ENOSYS; }

// `arguments` are flags of GoogleTest, each ended by a byte 0.
OOM_FORENSICS_EXPORT(run) int Run(char* arguments, uint32_t size_bytes) {
  char name[] = "tests";
  std::vector<char*> words = {name};
  for (uint32_t at = 0; at < size_bytes; ++at) {
    if (at == 0 || arguments[at - 1] == '\0') words.push_back(arguments + at);
  }
  int count = static_cast<int>(words.size());
  words.push_back(nullptr);
  testing::InitGoogleTest(&count, words.data());
  return RUN_ALL_TESTS();
}
