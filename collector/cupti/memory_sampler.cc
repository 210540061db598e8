#include "collector/cupti/memory_sampler.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "collector/cupti/clock_converter.h"

namespace oom_forensics::cupti {

MemorySampler::MemorySampler(DeviceLog* log, Libraries libraries)
    : log_(log), libraries_(libraries), process_id_(getpid()) {}

bool MemorySampler::FindDriver() {
  if (!driver_.has_value()) {
    driver_ = CudaDriver::FindLoaded(libraries_.driver);
  }
  return driver_.has_value();
}

int MemorySampler::Sample(std::string_view reason, SampleDepth depth) {
  // Before the lock, which a thread of the parent may have held at the fork.
  if (getpid() != process_id_) return 0;
  const bool quick = depth == SampleDepth::kQuick;
  std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
  if (quick) {
    if (!lock.try_lock() || !driver_.has_value()) return 0;
  } else {
    lock.lock();
    if (!FindDriver()) return 0;
  }
  const int devices = driver_->DeviceCount();
  int samples = 0;
  for (int device = 0; device < devices; ++device) {
    if (SampleDevice(device, reason, depth)) ++samples;
  }
  return samples;
}

bool MemorySampler::SampleDevice(int device, std::string_view reason,
                                 SampleDepth depth) {
  const auto index = static_cast<size_t>(device);
  if (index >= pci_bus_ids_.size()) pci_bus_ids_.resize(index + 1);
  std::string& bus_id = pci_bus_ids_[index];
  if (bus_id.empty()) bus_id = driver_->PciBusIdOf(device);

  DriverEvent event;
  event.kind = DriverEventKind::kSample;
  event.time_base = TimeBase::kCollector;
  event.device = static_cast<uint32_t>(device);
  std::optional<DeviceMemory> memory = driver_->MemoryOf(device);
  // A device on which this process has no context is not ours to report on.
  if (!memory.has_value()) return false;
  DeviceNumbers numbers;
  numbers.total_bytes = memory->total_bytes;
  numbers.free_bytes = memory->free_bytes;
  if (depth == SampleDepth::kFull) AskNvml(bus_id, &numbers);
  ReadCollectorClock(&event.time_ns);
  event.free_bytes = numbers.free_bytes;
  event.total_bytes = numbers.total_bytes;
  event.process_bytes = numbers.process_bytes;
  if (!numbers.others.empty()) {
    event.others = log_->Intern(ToLines(numbers.others));
  }
  event.text = log_->Intern(reason);
  log_->Add(event);
  if (depth == SampleDepth::kFull) {
    if (index >= last_full_samples_.size()) {
      last_full_samples_.resize(index + 1);
    }
    last_full_samples_[index] = std::move(numbers);
  }
  return true;
}

void MemorySampler::AskNvml(const std::string& pci_bus_id,
                            DeviceNumbers* numbers) {
  if (!nvml_tried_) nvml_ = Nvml::Open(libraries_.nvml);
  nvml_tried_ = true;
  if (!nvml_.has_value()) return;
  std::vector<DeviceProcess> processes = nvml_->ProcessesOf(pci_bus_id);
  const auto own = std::find_if(
      processes.begin(), processes.end(), [this](const DeviceProcess& process) {
        return process.process_id == static_cast<uint32_t>(process_id_);
      });
  // Inside a container it may see other process ids than we do, and we are one
  // of them.
  if (own == processes.end()) return;
  numbers->process_bytes = own->bytes;
  processes.erase(own);
  numbers->others = std::move(processes);
}

std::optional<DeviceNumbers> MemorySampler::LastFullSample(int device) {
  if (getpid() != process_id_ || device < 0) return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto index = static_cast<size_t>(device);
  return index < last_full_samples_.size() ? last_full_samples_[index]
                                           : std::nullopt;
}

int MemorySampler::DeviceCount(std::string* why) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!FindDriver()) {
    *why = std::string(libraries_.driver) + " is not loaded in this process";
    return 0;
  }
  const int count = driver_->DeviceCount();
  if (count == 0) *why = "the CUDA driver offers no device";
  return count;
}

std::string MemorySampler::NameOf(int device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return FindDriver() ? driver_->NameOf(device) : "";
}

std::string MemorySampler::PciBusIdOf(int device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return FindDriver() ? driver_->PciBusIdOf(device) : "";
}

}  // namespace oom_forensics::cupti
