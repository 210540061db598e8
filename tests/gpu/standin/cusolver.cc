// libcusolver: factorisations that succeed and compute nothing.
#include <cstddef>

#include "tests/gpu/standin/handle.h"

namespace {

constexpr int kSuccess = 0;
constexpr int kNotInitialized = 1;  // CUSOLVER_STATUS_NOT_INITIALIZED
constexpr int kElements = 1 << 16;

int Workspace(int* elements) {
  *elements = kElements;
  return kSuccess;
}

int Succeed(int* device_info) {
  if (device_info != nullptr) *device_info = 0;
  return kSuccess;
}

}  // namespace

// Each for float, double and their complex numbers.
#define FOR_EACH_TYPE(define) define(S) define(D) define(C) define(Z)

#define POTRF(t)                                                          \
  int cusolverDn##t##potrf_bufferSize(void*, int, int, void*, int,        \
                                      int* elements) {                    \
    return Workspace(elements);                                           \
  }                                                                       \
  int cusolverDn##t##potrf(void*, int, int, void*, int, void*, int,       \
                           int* info) {                                   \
    return Succeed(info);                                                 \
  }                                                                       \
  int cusolverDn##t##potrfBatched(void*, int, int, void*, int, int* info, \
                                  int) {                                  \
    return Succeed(info);                                                 \
  }
#define GETRF(t)                                                           \
  int cusolverDn##t##getrf_bufferSize(void*, int, int, void*, int,         \
                                      int* elements) {                     \
    return Workspace(elements);                                            \
  }                                                                        \
  int cusolverDn##t##getrf(void*, int, int, void*, int, void*, void*,      \
                           int* info) {                                    \
    return Succeed(info);                                                  \
  }                                                                        \
  int cusolverDn##t##getrs(void*, int, int, int, void*, int, void*, void*, \
                           int, int* info) {                               \
    return Succeed(info);                                                  \
  }
#define GEQRF(t)                                                           \
  int cusolverDn##t##geqrf_bufferSize(void*, int, int, void*, int,         \
                                      int* elements) {                     \
    return Workspace(elements);                                            \
  }                                                                        \
  int cusolverDn##t##geqrf(void*, int, int, void*, int, void*, void*, int, \
                           int* info) {                                    \
    return Succeed(info);                                                  \
  }
#define GESVD(t)                                                             \
  int cusolverDn##t##gesvd_bufferSize(void*, int, int, int* elements) {      \
    return Workspace(elements);                                              \
  }                                                                          \
  int cusolverDn##t##gesvd(void*, signed char, signed char, int, int, void*, \
                           int, void*, void*, int, void*, int, void*, int,   \
                           void*, int* info) {                               \
    return Succeed(info);                                                    \
  }
#define GESVDJ_BATCHED(t)                                              \
  int cusolverDn##t##gesvdjBatched_bufferSize(                         \
      void*, int, int, int, void*, int, void*, void*, int, void*, int, \
      int* elements, void*, int) {                                     \
    return Workspace(elements);                                        \
  }
#define ONE_MATRIX(name)                                                     \
  int cusolverDn##name##_bufferSize(void*, int, int, int, void*, int, void*, \
                                    int* elements) {                         \
    return Workspace(elements);                                              \
  }                                                                          \
  int cusolverDn##name(void*, int, int, int, void*, int, void*, void*, int,  \
                       int* info) {                                          \
    return Succeed(info);                                                    \
  }
#define MULTIPLY(name)                                                       \
  int cusolverDn##name##_bufferSize(void*, int, int, int, int, int, void*,   \
                                    int, void*, void*, int, int* elements) { \
    return Workspace(elements);                                              \
  }

extern "C" {

int cusolverDnCreate(void** handle) {
  return standin_gpu::MakeHandle("cusolver", handle) ? kSuccess
                                                     : kNotInitialized;
}

int cusolverDnDestroy(void* handle) {
  standin_gpu::EndHandle("cusolver", handle);
  return kSuccess;
}

int cusolverGetVersion(int* version) {
  *version = 11600;
  return kSuccess;
}

FOR_EACH_TYPE(POTRF)
FOR_EACH_TYPE(GETRF)
FOR_EACH_TYPE(GEQRF)
FOR_EACH_TYPE(GESVD)
FOR_EACH_TYPE(GESVDJ_BATCHED)
ONE_MATRIX(Ssyevd)
ONE_MATRIX(Dsyevd)
ONE_MATRIX(Cheevd)
ONE_MATRIX(Zheevd)
ONE_MATRIX(Sorgqr)
ONE_MATRIX(Dorgqr)
ONE_MATRIX(Cungqr)
ONE_MATRIX(Zungqr)
MULTIPLY(Sormqr)
MULTIPLY(Dormqr)
MULTIPLY(Cunmqr)
MULTIPLY(Zunmqr)

}  // extern "C"
