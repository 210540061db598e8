#include "core/outside_pool.h"

#include <algorithm>

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
    {"CUDA runtime implicit initialization", "a context of CUDA"},
    {"cuDevicePrimaryCtxRetain", "a context of CUDA"},
    {"CUDA_ERROR_OUT_OF_MEMORY", "CUDA"},
};

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

OutsidePoolVerdict JudgeOutsidePool(std::string_view library,
                                    const OutsidePool& numbers) {
  const DeviceNumbers& device = numbers.device;
  const std::string who(library);
  std::string held = "TensorFlow's pools hold " +
                     FormatBytes(numbers.pools_bytes) + " (" +
                     FormatBytes(numbers.pools_in_use_bytes) + " in use)";
  if (device.others_bytes() > 0) {
    held += ", other processes " + FormatBytes(device.others_bytes());
  }
  OutsidePoolVerdict verdict;
  if (device.free_bytes >= kLibrariesNeedBytes) {
    verdict.sentence = "This was hardly memory: the device has " +
                       FormatBytes(device.free_bytes) + " of its " +
                       FormatBytes(device.total_bytes) + " free; " + held + ".";
    verdict.remedy =
        "Look for versions of " + who +
        " and of the driver that do not fit TensorFlow's, and for two copies "
        "of a library.";
    return verdict;
  }
  verdict.kind = "OUTSIDE_POOL";
  verdict.sentence = "This was memory, outside of TensorFlow's pool: " + who +
                     " needs some of the device for itself, and of its " +
                     FormatBytes(device.total_bytes) + " only " +
                     FormatBytes(device.free_bytes) + " were free; " + held +
                     ".";
  const uint64_t missing = kLibrariesNeedBytes - device.free_bytes;
  const uint64_t pool =
      numbers.pools_bytes - std::min(numbers.pools_bytes, missing);
  if (device.others_bytes() > missing) {
    verdict.remedy = "Stop the other processes on this device.";
  } else if (pool >= std::max<uint64_t>(numbers.pools_in_use_bytes, 1)) {
    verdict.remedy =
        "Leave it " + FormatBytes(kLibrariesNeedBytes) +
        ": tf.config.LogicalDeviceConfiguration(memory_limit=" +
        std::to_string(pool >> 20) +
        "), or tf.config.experimental.set_memory_growth(gpu, True).";
  } else {
    verdict.remedy =
        "The pool is in use, so less has to be: with a smaller batch set "
        "tf.config.experimental.set_memory_growth(gpu, True).";
  }
  return verdict;
}

}  // namespace oom_forensics
