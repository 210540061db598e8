// libcusparse: handles, and products that need no workspace.
#include <cstddef>

#include "tests/gpu/standin/device.h"
#include "tests/gpu/standin/handle.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kAllocFailed = 2;  // CUSPARSE_STATUS_ALLOC_FAILED

}  // namespace

extern "C" {

int cusparseCreate(void** handle) {
  return standin_gpu::MakeHandle("cusparse", handle) ? kSuccess : kAllocFailed;
}

int cusparseDestroy(void* handle) {
  standin_gpu::EndHandle("cusparse", handle);
  return kSuccess;
}

int cusparseGetVersion(void*, int* version) {
  *version = 12500;
  return kSuccess;
}

const char* cusparseGetErrorString(int) { return "a status of the stand-in"; }
const char* cusparseGetErrorName(int) { return "CUSPARSE_STATUS"; }

int cusparseSpMM_bufferSize(void*, int, int, const void*, void*, void*,
                            const void*, void*, int, int, size_t* bytes) {
  *bytes = 0;
  return kSuccess;
}

int cusparseSpMV_bufferSize(void*, int, const void*, void*, void*, const void*,
                            void*, int, int, size_t* bytes) {
  *bytes = 0;
  return kSuccess;
}

int cusparseSpGEMM_createDescr(void** descriptor) {
  *descriptor = standin_gpu::NewHandle();
  return kSuccess;
}

}  // extern "C"
