// MemorySampler: how full each CUDA device is at a moment, from the driver and
// from NVML. This is what remains where CUPTI may not be used, and what CUPTI
// cannot tell: the memory of contexts and of other processes.
#ifndef OOM_FORENSICS_COLLECTOR_CUPTI_MEMORY_SAMPLER_H_
#define OOM_FORENSICS_COLLECTOR_CUPTI_MEMORY_SAMPLER_H_

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/cupti/cuda_driver.h"
#include "collector/cupti/device_log.h"
#include "collector/cupti/nvml.h"
#include "core/placement.h"

namespace oom_forensics::cupti {

// How much to ask. A pool grows inside of TensorFlow's allocator, which waits.
enum class SampleDepth {
  kQuick,  // free and total: a driver call each, microseconds
  kFull,   // and what this process holds: NVML, up to milliseconds
};

class MemorySampler {
 public:
  struct Libraries {
    const char* driver = CudaDriver::kName;
    const char* nvml = Nvml::kName;
  };

  // Samples go to `log`.
  explicit MemorySampler(DeviceLog* log) : MemorySampler(log, Libraries()) {}
  MemorySampler(DeviceLog* log, Libraries libraries);

  // Adds a sample of each device. How many; 0 without a CUDA device in use, and
  // in a child made by fork(), where CUDA does not work. A quick one waits for
  // nobody and looks for nothing: there is none while another sample is taken,
  // nor before a full one has found the driver.
  int Sample(std::string_view reason, SampleDepth depth);

  // The device as the last full sample found it; nothing where there was none,
  // and in a child made by fork().
  std::optional<DeviceNumbers> LastFullSample(int device);

  // Devices that this process may use, and why there is none: half a sentence.
  int DeviceCount(std::string* why);

  // "NVIDIA H200", "0000:3b:00.0"; empty if it is not known.
  std::string NameOf(int device);
  std::string PciBusIdOf(int device);

 private:
  // Looks for the driver, which may be loaded later than we are.
  bool FindDriver();
  bool SampleDevice(int device, std::string_view reason, SampleDepth depth);
  // Fills in what processes hold.
  void AskNvml(const std::string& pci_bus_id, DeviceNumbers* numbers);

  DeviceLog* const log_;
  const Libraries libraries_;
  const int process_id_;
  std::mutex mutex_;
  std::optional<CudaDriver> driver_;
  std::optional<Nvml> nvml_;
  bool nvml_tried_ = false;
  // By device.
  std::vector<std::string> pci_bus_ids_;
  std::vector<std::optional<DeviceNumbers>> last_full_samples_;
};

}  // namespace oom_forensics::cupti

#endif  // OOM_FORENSICS_COLLECTOR_CUPTI_MEMORY_SAMPLER_H_
