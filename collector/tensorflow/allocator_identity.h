// What an allocator's own name tells of it. TensorFlow names its pools by their
// use and, where a device has one of its own, by the number of the (logical)
// device, see gpu_process_state.cc, pluggable_device_process_state.cc and
// process_state.cc of tensorflow/core/common_runtime.
#ifndef OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_IDENTITY_H_
#define OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_IDENTITY_H_

#include <string>
#include <string_view>

namespace oom_forensics::collector {

struct AllocatorIdentity {
  // One of event_schema.h's kAllocatorKind.
  std::string kind;
  // "/device:GPU:1", as TensorFlow writes devices of this process; empty where
  // the name does not tell.
  std::string device_name;
  // What it divides is the host's memory.
  bool in_host_memory = false;
};

// Identifies a BFC allocator by its name ("GPU_1_bfc").
AllocatorIdentity IdentifyBfcAllocator(std::string_view name);

// The device of an allocator without a pool that has this name ("gpu_async_1").
// The number is that of the physical device: where it is divided into several
// logical ones the name does not tell which, but DeviceNames does.
std::string DeviceOfDirectAllocator(std::string_view name);

}  // namespace oom_forensics::collector

#endif  // OOM_FORENSICS_COLLECTOR_TENSORFLOW_ALLOCATOR_IDENTITY_H_
