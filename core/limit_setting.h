// The variable of the environment that limits one of TensorFlow's pools.
//
//   pool                        variable
//   bfc_cpu_allocator_for_gpu   TF_CPU_BFC_MEM_LIMIT_IN_MB
//   gpu_host_bfc                TF_GPU_HOST_MEM_LIMIT_IN_MB
//   pluggable_device_host_bfc   TF_GPU_HOST_MEM_LIMIT_IN_MB
//   cuda_host_bfc               TF_CUDA_HOST_MEM_LIMIT_IN_MB (until 2.5)
//   mklcpu                      TF_MKL_ALLOC_MAX_BYTES
//   GPU_0_bfc                   TF_PER_DEVICE_MEMORY_LIMIT_MB: what the process
//                               may take of the device, whatever the pool may
//
// (TensorFlow: process_state.cc, gpu_process_state.cc, mkl_cpu_allocator.h;
// XLA: stream_executor.) A GPU's pool gets its own limit from the program
// (tf.config.LogicalDeviceConfiguration), for which there is no variable.
#ifndef OOM_FORENSICS_CORE_LIMIT_SETTING_H_
#define OOM_FORENSICS_CORE_LIMIT_SETTING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oom_forensics {

struct LimitVariable {
  std::string_view name;
  // What its value counts.
  uint64_t unit_bytes = 0;
};

// Nothing where no variable limits the pool. A name may end in "#0", as planes
// are called.
std::optional<LimitVariable> LimitVariableOf(std::string_view pool_name);

// A variable that was set.
struct LimitSetting {
  // "TF_CPU_BFC_MEM_LIMIT_IN_MB=256"
  std::string text;
  uint64_t bytes = 0;
};

// What the pool's variable was set to, out of the environment's "NAME=value";
// nothing where it was not, or to no limit.
std::optional<LimitSetting> FindLimitSetting(
    std::string_view pool_name, const std::vector<std::string>& environment);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_LIMIT_SETTING_H_
