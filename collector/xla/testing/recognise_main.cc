// Tries the hooks on XLA on a real TensorFlow: opens the libtensorflow_cc.so.2
// that is named on the command line, and says what of it is recognized. Runs
// nothing of it, so a wheel for GPUs can be tried without one.
//
// Exit 0: recognized; 1: not, with the reason; 2: wrong usage.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "collector/xla/xla.h"

int main(int argc, char** argv) {
  using oom_forensics::collector::TensorFlowLibrary;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PATH/libtensorflow_cc.so.2\n", argv[0]);
    return 2;
  }
  // As Python loads it.
  if (dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("not recognized: %s\n", dlerror());
    return 1;
  }
  const auto library = TensorFlowLibrary::Find();
  if (!library.has_value()) {
    std::printf("not recognized: there is no %s beside it\n",
                TensorFlowLibrary::kFramework);
    return 1;
  }
  static oom_forensics::collector::Xla xla;
  const auto report = xla.Install(*library);
  std::printf("TensorFlow %s: %s\n%s\n", library->Version().c_str(),
              report.hooked ? "recognized" : "not recognized",
              report.sentences.c_str());
  return report.hooked ? 0 : 1;
}
