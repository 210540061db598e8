// libnccl: communicators, and collectives that exchange nothing.
#include <cstdio>

#include "tests/gpu/standin/device.h"
#include "tests/gpu/standin/handle.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kUnhandledCudaError = 1;

struct UniqueId {
  char bytes[128];
};

int NewCommunicator(void** communicator) {
  return standin_gpu::MakeHandle("nccl", communicator) ? kSuccess
                                                       : kUnhandledCudaError;
}

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  *version = 22105;
  return kSuccess;
}

int ncclGetUniqueId(UniqueId* id) {
  *id = {};
  std::snprintf(id->bytes, sizeof(id->bytes), "stand-in");
  return kSuccess;
}

int ncclCommInitRank(void** communicator, int, UniqueId, int) {
  return NewCommunicator(communicator);
}

int ncclCommInitRankConfig(void** communicator, int, UniqueId, int, void*) {
  return NewCommunicator(communicator);
}

int ncclCommInitAll(void** communicators, int count, const int*) {
  for (int i = 0; i < count; ++i) {
    if (const int status = NewCommunicator(&communicators[i])) return status;
  }
  return kSuccess;
}

int ncclCommDestroy(void* communicator) {
  standin_gpu::EndHandle("nccl", communicator);
  return kSuccess;
}

int ncclCommGetAsyncError(void*, int* error) {
  *error = kSuccess;
  return kSuccess;
}

const char* ncclGetErrorString(int error) {
  return error == kSuccess ? "no error" : "unhandled cuda error";
}

const char* ncclGetLastError(void*) { return "Cuda failure 'out of memory'"; }

}  // extern "C"
