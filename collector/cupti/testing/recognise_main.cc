// Tries the tee on a real TensorFlow: opens the libtensorflow_cc.so.2 that is
// named on the command line, recognizes its CuptiWrapper, and drives it through
// TensorFlow's own CuptiErrorManager, as a profiler session does. Without a GPU
// CUPTI refuses to enable anything, so this shows that the tee is recognized,
// that calls pass through it, and that TensorFlow gets CUPTI's own answers.
//
// Prints one line, exit 0: recognized; 1: not, with the reason; 2: wrong usage.
#include <cupti.h>
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "collector/cupti/cupti_tee.h"

namespace oom_forensics::cupti {
namespace {

constexpr char kManager[] = "_ZN3xla8profiler17CuptiErrorManager";

void CUPTIAPI RequestBuffer(uint8_t** buffer, size_t* size, size_t*) {
  *buffer = nullptr;
  *size = 0;
}
void CUPTIAPI CompleteBuffer(CUcontext, uint32_t, uint8_t*, size_t, size_t) {}

// One session through TensorFlow's error manager. What CUPTI answered to the
// registration and to the first kind.
std::string DriveSession(const collector::TensorFlowLibrary& library) {
  const auto get_interface =
      library.FunctionOf<void* (*)()>("_ZN3xla8profiler17GetCuptiInterfaceEv");
  const auto register_callbacks =
      library
          .FunctionOf<CUptiResult (*)(void*, CUpti_BuffersCallbackRequestFunc,
                                      CUpti_BuffersCallbackCompleteFunc)>(
              (std::string(kManager) +
               "25ActivityRegisterCallbacksEPFvPPhPmS4_EPFvP8CUctx_stjS2_mmE")
                  .c_str());
  const auto enable =
      library.FunctionOf<CUptiResult (*)(void*, CUpti_ActivityKind)>(
          (std::string(kManager) + "14ActivityEnableE18CUpti_ActivityKind")
              .c_str());
  if (get_interface == nullptr || register_callbacks == nullptr ||
      enable == nullptr) {
    return "no CuptiErrorManager to drive it with";
  }
  void* const manager = get_interface();
  const CUptiResult registered =
      register_callbacks(manager, &RequestBuffer, &CompleteBuffer);
  const CUptiResult enabled =
      enable(manager, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  return "ActivityRegisterCallbacks answers " + std::to_string(registered) +
         ", ActivityEnable answers " + std::to_string(enabled);
}

int Main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PATH/libtensorflow_cc.so.2\n", argv[0]);
    return 2;
  }
  if (dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    std::printf("not recognized: %s\n", dlerror());
    return 1;
  }
  using collector::TensorFlowLibrary;
  const auto library =
      TensorFlowLibrary::Find(TensorFlowLibrary::kImplementation);
  if (!library.has_value()) {
    std::printf("not recognized: %s is not what was opened\n",
                TensorFlowLibrary::kImplementation);
    return 1;
  }
  static DeviceLog log;
  const std::string why = CuptiTee::Get().Install(*library, {}, &log);
  if (!why.empty()) {
    std::printf("TensorFlow %s: not recognized: %s\n",
                library->Version().c_str(), why.c_str());
    return 1;
  }
  const std::string session = DriveSession(*library);
  CuptiTee::Get().Uninstall();
  std::printf("TensorFlow %s: recognized; %s\n", library->Version().c_str(),
              session.c_str());
  return 0;
}

}  // namespace
}  // namespace oom_forensics::cupti

int main(int argc, char** argv) {
  return oom_forensics::cupti::Main(argc, argv);
}
