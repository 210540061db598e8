// The whole command `oom-forensics` as a WebAssembly module, for a program with
// a WebAssembly runtime that lends it files and streams (host_files.h):
//
//   _initialize()                       once, before all else
//   p = allocate(size); …fill it…       for the arguments
//   run(arguments, size)                each ended by a byte 0; the exit code
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "converter/command/commands.h"

#define OOM_FORENSICS_EXPORT(name) \
  extern "C" __attribute__((export_name(#name), used))

namespace oom_forensics {
namespace {

std::vector<std::string> Split(std::string_view arguments) {
  std::vector<std::string> split;
  while (!arguments.empty()) {
    const size_t end = arguments.find('\0');
    split.emplace_back(arguments.substr(0, end));
    arguments.remove_prefix(end + 1);
  }
  return split;
}

}  // namespace

OOM_FORENSICS_EXPORT(allocate) char* Allocate(uint32_t size_bytes) {
  return static_cast<char*>(std::malloc(size_bytes));
}

OOM_FORENSICS_EXPORT(run)
int Run(const char* arguments, uint32_t size_bytes) {
  const int code = RunCommand(Split(std::string_view(arguments, size_bytes)));
  std::cout.flush();
  std::fflush(nullptr);
  return code;
}

}  // namespace oom_forensics
