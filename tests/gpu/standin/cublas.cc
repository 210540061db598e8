// libcublas and libcublasLt. A matrix product does nothing.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/gpu/standin/device.h"
#include "tests/gpu/standin/handle.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kNotInitialized = 1;  // CUBLAS_STATUS_NOT_INITIALIZED
constexpr int kVersion = 120500;

int New(void** handle) {
  *handle = standin_gpu::NewHandle();
  return kSuccess;
}

// cublasLtMatmulHeuristicResult_t
struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

}  // namespace

extern "C" {

int cublasCreate_v2(void** handle) {
  return standin_gpu::MakeHandle("cublas", handle) ? kSuccess : kNotInitialized;
}

int cublasDestroy_v2(void* handle) {
  standin_gpu::EndHandle("cublas", handle);
  return kSuccess;
}

int cublasGetVersion_v2(void*, int* version) {
  *version = kVersion;
  return kSuccess;
}

const char* cublasGetStatusString(int) { return "a status of the stand-in"; }
const char* cublasGetStatusName(int status) {
  return status == kSuccess ? "CUBLAS_STATUS_SUCCESS"
                            : "CUBLAS_STATUS_NOT_INITIALIZED";
}

int cublasLtCreate(void** handle) {
  return standin_gpu::MakeHandle("cublaslt", handle) ? kSuccess
                                                     : kNotInitialized;
}

size_t cublasLtGetVersion() { return kVersion; }
size_t cublasLtGetCudartVersion() { return 12050; }
const char* cublasLtGetStatusString(int) { return "a status of the stand-in"; }

int cublasLtMatmulDescCreate(void** descriptor, int, int) {
  return New(descriptor);
}

int cublasLtMatrixLayoutCreate(void** layout, int, uint64_t, uint64_t,
                               int64_t) {
  return New(layout);
}

int cublasLtMatmulPreferenceCreate(void** preference) {
  return New(preference);
}

int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*,
                                   void*, int requested, Heuristic* results,
                                   int* returned) {
  *returned = requested > 0 ? 1 : 0;
  if (requested > 0) std::memset(results, 0, sizeof(*results));
  return kSuccess;
}

}  // extern "C"
