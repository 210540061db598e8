// libnvidia-ml: what a device holds, and which processes hold it.
#include <unistd.h>

#include <string>

#include "tests/gpu/standin/device.h"
#include "tests/gpu/standin/settings.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kNotFound = 6;          // NVML_ERROR_NOT_FOUND
constexpr int kInsufficientSize = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
// A process id that no process has: ids end at 4194304.
constexpr unsigned int kOthersPid = 4194305;

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct Process {
  unsigned int pid;
  unsigned long long used_bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};

}  // namespace

extern "C" {

int nvmlInit_v2() { return kSuccess; }

const char* nvmlErrorString(int) { return "an error of the stand-in"; }

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = static_cast<unsigned int>(standin_gpu::Devices().size());
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  if (index >= standin_gpu::Devices().size()) return kNotFound;
  *device = standin_gpu::Devices()[index];
  return kSuccess;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  for (standin_gpu::Device* const known : standin_gpu::Devices()) {
    if (standin_gpu::PciBusId(*known) == id) {
      *device = known;
      return kSuccess;
    }
  }
  return kNotFound;
}

int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  auto* const known = static_cast<standin_gpu::Device*>(device);
  memory->total = known->total_bytes();
  memory->free = known->FreeBytes();
  memory->used = memory->total - memory->free;
  return kSuccess;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count,
                                            Process* processes) {
  auto* const known = static_cast<standin_gpu::Device*>(device);
  const size_t others = standin_gpu::OtherBytes();
  const unsigned int listed = others > 0 ? 2 : 1;
  const unsigned int room = *count;
  *count = listed;
  if (room < listed) return kInsufficientSize;
  processes[0] = {static_cast<unsigned int>(getpid()), known->OwnBytes(), 0, 0};
  if (others > 0) processes[1] = {kOthersPid, others, 0, 0};
  return kSuccess;
}

}  // extern "C"
