// Refusal: a request that an allocator gave up on, what it met, and who held
// the memory then, as the recorder and the allocator's own numbers say. It is
// what the few lines on stderr and on the error are made of; what the whole
// trace shows is for the converter to say.
#ifndef OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_REFUSAL_H_
#define OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_REFUSAL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/recording/recording.h"
#include "collector/recording/site_interner.h"
#include "collector/tensorflow/allocator_state.h"
#include "core/placement.h"

namespace oom_forensics::collector {

// Live allocations of one op, shape, dtype and mode; or of one kind of buffer
// of one compiled function.
struct Holder {
  SiteKey site;
  uint64_t count = 0;
  uint64_t allocated_bytes = 0;
};

struct Refusal {
  // The moment, nanoseconds since the epoch.
  int64_t time_ns = 0;
  // "name#instance" of the allocator; empty: not known.
  std::string allocator;
  SiteKey site;
  Failure failure;
  int64_t training_step = kNoStep;
  // Allocations of the allocator that may be missing among the holders.
  uint64_t unlisted_allocations = 0;
  // Why it was not met, out of the allocator's own numbers at that moment.
  PlacementVerdict placement;
  // What lay in the allocator; largest first.
  std::vector<Holder> holders;
};

// How full the device of an allocator is; nothing where it was not looked at.
using DeviceOf =
    std::function<std::optional<DeviceNumbers>(const AllocatorInfo&)>;

// The refusal with this sequence number.
Refusal FindRefusal(const Recording& recording,
                    const std::vector<const Site*>& sites,
                    const std::vector<AllocatorState>& allocators,
                    const DeviceOf& device_of, uint64_t sequence);

// The regions of each pool: bytes by address.
using RegionsByPool =
    std::unordered_map<AllocatorId, std::map<uint64_t, uint64_t>>;

// The regions right before the event `sequence`, of all pools in one walk over
// the recording.
RegionsByPool RegionsBefore(const Recording& recording, uint64_t sequence);

// What an allocator has taken from its device.
uint64_t ReservedBytes(const RegionsByPool& regions,
                       const AllocatorState& state);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_FLIGHT_RECORDER_REFUSAL_H_
