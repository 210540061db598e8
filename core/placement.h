// Why a pool could not place a request, out of its own numbers: the one place
// where an out-of-memory is put into words. The flight recorder says them when
// it happens, the converter when the trace is opened; both fill in PoolNumbers.
//
// The shortfall is what the best single place (the largest gap, or a new
// region) was short by. Three causes share it exactly:
//
//   0        best                       one region     together       request
//   |---------|---------------------------|--------------|---------------|
//             |<----- FRAGMENTATION ----->|<- GROWTH_ -->|<- CAPACITY -->|
//                                            REGIONS
//   FRAGMENTATION   what one region's free memory could give, in one piece
//   GROWTH_REGIONS  what only the free memory of several regions could
//   CAPACITY        what all free memory together could not
//
// Two see it from outside of the pool:
//
//   EXTERNAL  the pool may have grown by the request, but the device refused
//   LIMIT     the device could give the pool more than it may use, and still
//             leave to libraries what TensorFlow leaves them; or the limit was
//             set by hand
//
// What leaks or will be gone a moment later is not in these numbers: that a
// deeper cause is known does not change what is said here.
#ifndef OOM_FORENSICS_CORE_PLACEMENT_H_
#define OOM_FORENSICS_CORE_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_processes.h"
#include "core/free_space.h"
#include "core/limit_setting.h"

namespace oom_forensics {

// How full a device was.
struct DeviceNumbers {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
  // All that this process holds on the device; 0: not known.
  uint64_t process_bytes = 0;
  // What TensorFlow's other pools on the device hold, of logical devices, say.
  uint64_t sibling_bytes = 0;
  // The other processes on it, the largest first; empty: not known.
  std::vector<DeviceProcess> others = {};

  uint64_t used_bytes() const {
    return total_bytes > free_bytes ? total_bytes - free_bytes : 0;
  }
  // What other processes hold; 0 also where it is not known.
  uint64_t others_bytes() const {
    return process_bytes > 0 && used_bytes() > process_bytes
               ? used_bytes() - process_bytes
               : 0;
  }
  // "2.44 GiB: python (process 4711) 2.40 GiB"
  std::string OthersText() const;
};

// A pool when it refused a request.
struct PoolNumbers {
  // As the allocator rounds it.
  uint64_t request_bytes = 0;
  // For the device: all regions; without a layout, what is in use.
  uint64_t reserved_bytes = 0;
  // What it may reserve at most; 0: not known.
  uint64_t limit_bytes = 0;
  // The variable that limits it, if it was set.
  std::optional<LimitSetting> limit_setting;
  // It divides regions into chunks; else each block comes from the driver,
  // which tells of no gaps.
  bool has_layout = true;
  // Unset: not known, or it has no layout.
  std::optional<FreeSpace> free;
  // Unset: not known, or there is none.
  std::optional<DeviceNumbers> device;

  // Takes over what the environment's "NAME=value" say of a pool of this name.
  void LimitBy(std::string_view pool_name,
               const std::vector<std::string>& environment);

  // What the limit leaves for new regions, in whole units of what it gives.
  uint64_t AllowedGrowthBytes() const;
  // The pool may have grown by the request, but the device did not give it.
  bool DeviceIsFull() const { return AllowedGrowthBytes() >= request_bytes; }
  // What the pool could have grown by: nothing more than the device has.
  uint64_t GrowableBytes() const;
  // What a larger limit could give: the device's free memory without what
  // TensorFlow leaves to libraries. 0 also where the device is not known.
  uint64_t SpareBytes() const;
  // Free and growable together.
  uint64_t AvailableBytes() const;
  // What the largest gap, or a new region, was short by; 0: it would have done.
  uint64_t ShortByBytes() const;
};

struct PlacementPart {
  // "FRAGMENTATION" and so on, as Verdict.kind in datasets.proto.
  const char* kind = "";
  // Its share of the shortfall, 0..1.
  double share = 0;
  std::string sentence;
};

struct PlacementVerdict {
  // "UNKNOWN" where the numbers do not tell.
  const char* kind = "UNKNOWN";
  // For someone who has never heard of a bin.
  std::string sentence;
  uint64_t short_by_bytes = 0;
  // The causes that take part, `kind` first, then by share. Empty: unknown.
  std::vector<PlacementPart> parts;
};

PlacementVerdict JudgePlacement(const PoolNumbers& pool);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CORE_PLACEMENT_H_
