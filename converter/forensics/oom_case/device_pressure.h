// DevicePressure: how full the device was when one of TensorFlow's pools on it
// could not meet a request. The evidence for the verdict EXTERNAL: the pool was
// not at its limit, but the device had nothing left to grow into, because
// something outside of the pool holds it.
#ifndef OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_DEVICE_PRESSURE_H_
#define OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_DEVICE_PRESSURE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "converter/replay/allocator_replay.h"
#include "converter/trace/host_trace.h"
#include "core/placement.h"

namespace oom_forensics {

struct DevicePressure : DeviceNumbers {
  // Index into HostTrace::devices.
  size_t device = 0;
  // When the device was looked at.
  int64_t sample_ps = 0;
  // "NVIDIA A100-SXM4-80GB at 0000:3b:00.0"; "The device" where it is not
  // known.
  std::string name = "The device";
  // TensorFlow's pools on the device; the failing one; its limit (0: unknown).
  uint64_t pools_bytes = 0;
  uint64_t pool_bytes = 0;
  uint64_t pool_limit_bytes = 0;
  // The other pools: "GPU_1_bfc#0".
  std::vector<std::string> siblings;
  uint64_t request_bytes = 0;  // rounded as the allocator does

  // Held on the device by anyone but TensorFlow's pools.
  uint64_t gap_bytes() const {
    return used_bytes() > pools_bytes ? used_bytes() - pools_bytes : 0;
  }
  // The pool was allowed to grow by the request, and the device could not.
  bool external() const {
    return pool_limit_bytes > 0 && pool_limit_bytes >= pool_bytes &&
           pool_limit_bytes - pool_bytes >= request_bytes &&
           free_bytes < request_bytes;
  }
  // One sentence for the user.
  std::string Sentence() const;
};

// The pressure at the failure in `failed_row` of `allocator`, one of
// `allocators`, which are those of the host in the order of its trace; none
// where no CUDA device of the trace holds that pool, or the device was never
// looked at.
std::optional<DevicePressure> PressureAt(
    const HostTrace& host,
    const std::vector<std::unique_ptr<AllocatorReplay>>& allocators,
    const AllocatorReplay& allocator, Row failed_row);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_FORENSICS_OOM_CASE_DEVICE_PRESSURE_H_
