#include "core/outside_pool.h"

#include <algorithm>
#include <iterator>

#include "core/size_text.h"

namespace oom_forensics {
namespace {

// What libraries need for handles, code and workspaces: TensorFlow leaves them
// from 1,050 MiB to 1,800 MiB of a device that is not small.
constexpr uint64_t kLibrariesNeedBytes = uint64_t{1} << 30;

// Words of TensorFlow 2.15 to 2.21, in the order in which they are looked for.
constexpr struct {
  std::string_view words;
  std::string_view library;
} kMessages[] = {
    {"Failed to get convolution algorithm", "cuDNN"},
    {"No DNN in stream executor", "cuDNN"},
    {"DNN library initialization failed", "cuDNN"},
    {"DNN library is not found", "cuDNN"},
    {"CUDNN_STATUS_NOT_INITIALIZED", "cuDNN"},
    {"CUDNN_STATUS_ALLOC_FAILED", "cuDNN"},
    {"CUDNN_STATUS_INTERNAL_ERROR", "cuDNN"},
    {"No BLAS for stream", "cuBLAS"},
    {"No blas support for stream", "cuBLAS"},
    {"without BLAS support", "cuBLAS"},
    {"failed to create cublas handle", "cuBLAS"},
    {"CUBLAS_STATUS_NOT_INITIALIZED", "cuBLAS"},
    {"CUBLAS_STATUS_ALLOC_FAILED", "cuBLAS"},
    {"Failed to create cuFFT", "cuFFT"},
    {"CUFFT_ALLOC_FAILED", "cuFFT"},
    {"CUSOLVER_STATUS_NOT_INITIALIZED", "cuSOLVER"},
    {"CUSOLVER_STATUS_ALLOC_FAILED", "cuSOLVER"},
    {"Failed to create cuSolver", "cuSOLVER"},
    {"CUSPARSE_STATUS_NOT_INITIALIZED", "cuSPARSE"},
    {"CUSPARSE_STATUS_ALLOC_FAILED", "cuSPARSE"},
    {"unhandled cuda error", "NCCL"},
    {"cudaSetDevice() on GPU", "a context of CUDA"},
    {"CUDA runtime implicit initialization", "a context of CUDA"},
    {"cuDevicePrimaryCtxRetain", "a context of CUDA"},
    {"CUDA_ERROR_OUT_OF_MEMORY", "CUDA"},
};

constexpr std::string_view kRefusals[] = {
    "ALLOC_FAILED", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory",
    "failed to allocate"};

// "failed to allocate 600.00MiB (629145600 bytes) from device"; 0: it does not
// say.
uint64_t RefusedBytes(std::string_view message) {
  message.remove_prefix(
      std::min(message.find("failed to allocate"), message.size()));
  message.remove_prefix(std::min(message.find('('), message.size()));
  uint64_t bytes = 0;
  size_t at = 1;
  for (; at < message.size() && message[at] >= '0' && message[at] <= '9';
       ++at) {
    bytes = bytes * 10 + static_cast<uint64_t>(message[at] - '0');
  }
  return message.substr(std::min(at, message.size())).rfind(" bytes)", 0) == 0
             ? bytes
             : 0;
}

}  // namespace

std::string_view LibraryWithoutMemory(std::string_view message) {
  for (const auto& known : kMessages) {
    if (message.find(known.words) != std::string_view::npos) {
      return known.library;
    }
  }
  return "";
}

bool IsRefusedCopy(std::string_view message) {
  return message.find("Dst tensor is not initialized") !=
         std::string_view::npos;
}

bool SaysMemoryWasRefused(std::string_view message) {
  return std::any_of(std::begin(kRefusals), std::end(kRefusals),
                     [message](std::string_view words) {
                       return message.find(words) != std::string_view::npos;
                     });
}

OutsidePoolVerdict JudgeOutsidePool(const FailedLibrary& failed) {
  const OutsidePool& numbers = failed.device;
  const DeviceNumbers& device = numbers.device;
  const std::string who(LibraryWithoutMemory(failed.error));
  const bool refused = SaysMemoryWasRefused(failed.error);
  const uint64_t refused_bytes = RefusedBytes(failed.error);
  OutsidePoolVerdict verdict;
  if (refused) verdict.kind = "OUTSIDE_POOL";
  if (refused && device.total_bytes == 0) {
    verdict.sentence = "This was memory, outside of TensorFlow's pool: " + who +
                       " found no room on the device before there was a pool.";
    verdict.remedy =
        "Stop the other processes on this device: nvidia-smi lists them.";
    return verdict;
  }
  std::string held = "TensorFlow's pools hold " +
                     FormatBytes(numbers.pools_bytes) + " (" +
                     FormatBytes(numbers.pools_in_use_bytes) + " in use)";
  if (device.others_bytes() > 0) {
    held += ", other processes " + device.OthersText();
  }
  if (!refused && device.free_bytes >= kLibrariesNeedBytes) {
    verdict.sentence = "Memory was hardly the cause: the device has " +
                       FormatBytes(device.free_bytes) + " of its " +
                       FormatBytes(device.total_bytes) + " free; " + held + ".";
    verdict.remedy =
        "Look for versions of " + who +
        " and of the driver that do not match TensorFlow's, and for two copies "
        "of a library.";
    return verdict;
  }
  verdict.kind = "OUTSIDE_POOL";
  verdict.sentence =
      "This was memory, outside of TensorFlow's pool: " + who +
      (refused_bytes > 0 ? " was refused " + FormatBytes(refused_bytes)
       : refused         ? std::string(" was refused memory")
                         : std::string(" needs some")) +
      " of the device for itself, and of its " +
      FormatBytes(device.total_bytes) + " only " +
      FormatBytes(device.free_bytes) + " were free; " + held + ".";
  // What is refused where more than usual is free is larger than that.
  uint64_t needed = std::max(refused_bytes, kLibrariesNeedBytes);
  if (device.free_bytes >= needed) needed += device.free_bytes;
  const uint64_t missing = needed - device.free_bytes;
  const uint64_t pool =
      numbers.pools_bytes - std::min(numbers.pools_bytes, missing);
  if (device.others_bytes() > missing) {
    verdict.remedy = "Stop the other processes on this device, which hold " +
                     device.OthersText() + ".";
  } else if (pool >= std::max<uint64_t>(numbers.pools_in_use_bytes, 1)) {
    verdict.remedy =
        "Leave it " + FormatBytes(needed) +
        ": tf.config.LogicalDeviceConfiguration(memory_limit=" +
        std::to_string(pool >> 20) +
        "), or tf.config.experimental.set_memory_growth(gpu, True).";
  } else {
    verdict.remedy =
        "The pool is in use, so the job must also need less: use a smaller "
        "batch and set "
        "tf.config.experimental.set_memory_growth(gpu, True).";
  }
  return verdict;
}

}  // namespace oom_forensics
