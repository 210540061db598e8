// What the name of one of TensorFlow's pools tells of it.
#ifndef OOM_FORENSICS_CORE_POOL_NAME_H_
#define OOM_FORENSICS_CORE_POOL_NAME_H_

#include <string_view>

namespace oom_forensics {

// The number of the GPU that a pool lies on, by its name ("GPU_0_bfc") or else
// that of its device ("/device:GPU:0"); -1: it is none of a GPU.
int GpuOrdinalOf(std::string_view pool_name, std::string_view device_name);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_POOL_NAME_H_
