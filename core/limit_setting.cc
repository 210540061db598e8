#include "core/limit_setting.h"

#include <charconv>

#include "core/pool_name.h"

namespace oom_forensics {

std::optional<LimitVariable> LimitVariableOf(std::string_view pool_name) {
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  pool_name = pool_name.substr(0, pool_name.find('#'));
  if (pool_name == "bfc_cpu_allocator_for_gpu") {
    return LimitVariable{"TF_CPU_BFC_MEM_LIMIT_IN_MB", kMiB};
  }
  if (pool_name == "gpu_host_bfc" || pool_name == "pluggable_device_host_bfc") {
    return LimitVariable{"TF_GPU_HOST_MEM_LIMIT_IN_MB", kMiB};
  }
  if (pool_name == "cuda_host_bfc") {
    return LimitVariable{"TF_CUDA_HOST_MEM_LIMIT_IN_MB", kMiB};
  }
  if (pool_name == "mklcpu") return LimitVariable{"TF_MKL_ALLOC_MAX_BYTES", 1};
  if (GpuOrdinalOf(pool_name, "") >= 0) {
    return LimitVariable{"TF_PER_DEVICE_MEMORY_LIMIT_MB", kMiB};
  }
  return std::nullopt;
}

std::optional<LimitSetting> FindLimitSetting(
    std::string_view pool_name, const std::vector<std::string>& environment) {
  const std::optional<LimitVariable> variable = LimitVariableOf(pool_name);
  if (!variable.has_value()) return std::nullopt;
  for (const std::string& setting : environment) {
    const std::string_view text = setting;
    const size_t name_size = variable->name.size();
    if (text.substr(0, name_size) != variable->name ||
        text.substr(name_size, 1) != "=") {
      continue;
    }
    uint64_t value = 0;
    std::from_chars(text.data() + name_size + 1, text.data() + text.size(),
                    value);
    if (value == 0 || value > UINT64_MAX / variable->unit_bytes) continue;
    return LimitSetting{setting, value * variable->unit_bytes};
  }
  return std::nullopt;
}

}  // namespace oom_forensics
