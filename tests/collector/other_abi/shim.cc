// A plugin that hands TensorFlow's structs on to the loader of OOM Forensics as
// another TensorFlow would, of which there is none to be had: with another
// version of the profiler plugins' C API, by the environment variable
// OTHER_MAJOR_VERSION. OTHER_LOADER is the loader's path.
#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

#include "collector/pluggable_profiler_api.h"

extern "C" void TF_InitProfiler(TF_ProfilerRegistrationParams* params,
                                TF_Status* status) {
  void* const loader = dlopen(std::getenv("OTHER_LOADER"), RTLD_NOW);
  const auto init = reinterpret_cast<decltype(&TF_InitProfiler)>(
      dlsym(loader, "TF_InitProfiler"));
  const int32_t version = params->major_version;
  params->major_version = std::atoi(std::getenv("OTHER_MAJOR_VERSION"));
  init(params, status);
  params->major_version = version;
}
