// A stand-in for the CUDA driver and for NVML, with one library for both, where
// there is no GPU: the calls that MemorySampler makes, and the state that a
// test gives them.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_DRIVER_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_DRIVER_H_

#include <cstdint>
#include <vector>

namespace oom_forensics::cupti::testing {

struct StandinDevice {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
  // The process has a primary context on it.
  bool has_context = true;
};

struct StandinProcess {
  uint32_t process_id = 0;
  uint64_t used_bytes = 0;
};

// `initialized` false: cuInit has not been called in this process.
void SetDevices(std::vector<StandinDevice> devices, bool initialized = true);

// What NVML lists for every device.
void SetProcesses(std::vector<StandinProcess> processes);

// Contexts that were retained and not released, or pushed and not popped.
int UnbalancedContexts();

}  // namespace oom_forensics::cupti::testing

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_TESTING_STANDIN_DRIVER_H_
