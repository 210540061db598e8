// DeviceNames: which device an allocator belongs to, learnt from the devices
// themselves as TensorFlow makes them. An allocator's own name does not tell
// the type of a pluggable device ("XPU"), nor which of several logical devices
// it serves.
//
// The factories of devices are stood between, not the devices: it costs nothing
// after a device has been made.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_DEVICE_NAMES_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_DEVICE_NAMES_H_

#include <string>

#include "collector/library/tensorflow_library.h"
#include "collector/recording/allocator_table.h"

namespace oom_forensics::collector {

// From now on tells `allocators` the devices that are made. Says what was
// recognized, one sentence per line. `allocators` must live as long as the
// process. To be called once.
std::string InstallDeviceNames(const TensorFlowLibrary& library,
                               AllocatorTable* allocators);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_DEVICE_NAMES_H_
