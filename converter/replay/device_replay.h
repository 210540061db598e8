// The memory of one CUDA device, replayed from what the driver did: blocks that
// are alike are grouped, each free is matched to its block, and the blocks that
// are regions of TensorFlow's pools are told from the others.
//
//   DeviceReplay device = ReplayDevice(host, host.trace().devices[0]);
//   for (const DeviceChange& change : device.changes) ...   // by time
//
// A device has few blocks (a pool's regions, libraries' workspaces), so all of
// it is held at once.
#ifndef OOM_FORENSICS_CONVERTER_REPLAY_DEVICE_REPLAY_H_
#define OOM_FORENSICS_CONVERTER_REPLAY_DEVICE_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/replay/allocator_replay.h"
#include "converter/trace/host_trace.h"

namespace oom_forensics {

// Blocks that are alike.
struct DeviceGroup {
  StringId memory_kind = kEmptyString;
  uint64_t pool = 0;
  StringId source = kEmptyString;
  // Index of the allocator whose regions these are; -1: not TensorFlow's.
  int allocator = -1;
  // The memory lies on the device, not on the host (pinned, pageable).
  bool on_device = true;
};

// A block that came or went.
struct DeviceChange {
  int64_t time_ps = 0;
  uint32_t group = 0;
  bool allocated = true;
  // 0: not known (a free of which the trace says no size).
  uint64_t bytes = 0;
  // The block's address is not known: it cannot be matched with its free.
  bool anonymous = false;
};

struct DeviceReplay {
  std::vector<DeviceGroup> groups;
  // Sorted by time.
  std::vector<DeviceChange> changes;
  // Indices into HostAnalysis::allocators(): pools that lie on this device.
  std::vector<size_t> pools;
  // Frees of blocks that the trace does not know.
  uint64_t unmatched_frees = 0;
  // Blocks without an address (TensorFlow's own driver events).
  uint64_t anonymous_blocks = 0;
};

// `allocators` are those of the host, in the order of its trace.
DeviceReplay ReplayDevice(
    const HostTrace& host, const DeviceTrace& device,
    const std::vector<std::unique_ptr<AllocatorReplay>>& allocators);

// The CUDA device that an allocator's name or device tells ("GPU_1_bfc#0",
// "/device:GPU:1"); -1: it tells none.
int DeviceOrdinalOf(const AllocatorTrace& allocator);

// The number of a device ("cupti:1"); -1: it has none.
int DeviceOrdinalOf(const DeviceTrace& device);

// Whether a kind of memory (as CUPTI names it) lies on the device.
bool LiesOnDevice(std::string_view memory_kind);

// What TensorFlow's pools on the device hold at a time.
uint64_t PoolBytesAt(
    const DeviceReplay& device,
    const std::vector<std::unique_ptr<AllocatorReplay>>& allocators,
    int64_t time_ps);

}  // namespace oom_forensics

#endif  // OOM_FORENSICS_CONVERTER_REPLAY_DEVICE_REPLAY_H_
